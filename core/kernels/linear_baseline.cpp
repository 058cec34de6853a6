// The kernel of linear costs for any processor of the architecture.
#include "kernels/linear_impl.hpp"

namespace provetree::kernels {
constinit const LinearKernel linear_baseline = make_linear_kernel();
}
