// The class kernel for any processor.
#include "kernels/class_impl.hpp"

namespace provetree::kernels {
constinit const ClassKernel classes_baseline = make_class_kernel();
}
