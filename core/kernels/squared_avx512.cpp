// The sweeps for squared error on processors with AVX-512.
#include "kernels/squared_impl.hpp"

namespace provetree::kernels {
constinit const SquaredKernel squared_avx512 = make_squared_kernel();
}
