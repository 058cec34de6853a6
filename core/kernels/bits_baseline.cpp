// The bit kernel for any processor.
#include "kernels/bit_two_impl.hpp"

namespace provetree::kernels {
constinit const BitKernel bits_baseline = make_bit_kernel();
}
