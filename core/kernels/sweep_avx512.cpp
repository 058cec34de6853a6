// The kernels for processors with avx512.
#include "kernels/sweep_impl.hpp"

namespace provetree::kernels {
constinit const Kernel avx512 = make_kernel("avx512");
}
