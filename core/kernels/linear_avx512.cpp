// The kernel of linear costs for processors with AVX-512.
#include "kernels/linear_impl.hpp"

namespace provetree::kernels {
constinit const LinearKernel linear_avx512 = make_linear_kernel();
}
