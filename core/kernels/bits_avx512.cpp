// The bit kernel for processors with AVX-512.
#include "kernels/bit_two_impl.hpp"

namespace provetree::kernels {
constinit const BitKernel bits_avx512 = make_bit_kernel();
}
