// The sweep kernel for processors with AVX-512.
#include "kernels/sweep_impl.hpp"

namespace provetree::kernels {
constinit const Kernel avx512 = make_kernel("avx512");
}
