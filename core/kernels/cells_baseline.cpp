// The cell kernel for any processor.
#include "kernels/cell_impl.hpp"

namespace provetree::kernels {
constinit const CellKernel cells_baseline = make_cell_kernel();
}
