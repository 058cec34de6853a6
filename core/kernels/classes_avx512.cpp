// The class kernel for processors with AVX-512.
#include "kernels/class_impl.hpp"

namespace provetree::kernels {
constinit const ClassKernel classes_avx512 = make_class_kernel();
}
