// The bit kernel for processors with AVX2.
#include "kernels/bit_two_impl.hpp"

namespace provetree::kernels {
constinit const BitKernel bits_avx2 = make_bit_kernel();
}
