// The cell kernel for processors with AVX2.
#include "kernels/cell_impl.hpp"

namespace provetree::kernels {
constinit const CellKernel cells_avx2 = make_cell_kernel();
}
