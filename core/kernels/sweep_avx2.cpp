// The sweep kernel for processors with AVX2.
#include "kernels/sweep_impl.hpp"

namespace provetree::kernels {
constinit const Kernel avx2 = make_kernel("avx2");
}
