// The kernel of linear costs for processors with AVX2.
#include "kernels/linear_impl.hpp"

namespace provetree::kernels {
constinit const LinearKernel linear_avx2 = make_linear_kernel();
}
