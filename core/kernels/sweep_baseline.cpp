// The sweep kernel for any processor.
#include "kernels/sweep_impl.hpp"

namespace provetree::kernels {
constinit const Kernel baseline = make_kernel("baseline");
}
