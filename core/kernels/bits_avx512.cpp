// The bit kernel for this instruction set.
#include "kernels/bit_two_impl.hpp"

namespace provetree::kernels {
constinit const BitKernel bits_avx512 = make_bit_kernel();
}
