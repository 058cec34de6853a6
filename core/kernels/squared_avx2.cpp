// The sweeps for squared error on processors with AVX2.
#include "kernels/squared_impl.hpp"

namespace provetree::kernels {
constinit const SquaredKernel squared_avx2 = make_squared_kernel();
}
