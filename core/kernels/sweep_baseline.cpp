// The kernels for any processor.
#include "sweep_impl.hpp"

namespace provetree::kernels {
constinit const Kernel baseline = make_kernel("baseline");
}
