// The class kernel for processors with AVX2.
#include "kernels/class_impl.hpp"

namespace provetree::kernels {
constinit const ClassKernel classes_avx2 = make_class_kernel();
}
