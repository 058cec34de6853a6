// The bit kernel for processors that count bits, and turn squares of bits around, in vectors.
#include "kernels/bit_two_impl.hpp"

namespace provetree::kernels {
constinit const BitKernel bits_avx512_bitalg = make_bit_kernel();
}
