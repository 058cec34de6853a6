// The cell kernel for processors with AVX-512.
#include "kernels/cell_impl.hpp"

namespace provetree::kernels {
constinit const CellKernel cells_avx512 = make_cell_kernel();
}
