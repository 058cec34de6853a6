// The sweeps for squared error on any processor.
#include "kernels/squared_impl.hpp"

namespace provetree::kernels {
constinit const SquaredKernel squared_baseline = make_squared_kernel();
}
