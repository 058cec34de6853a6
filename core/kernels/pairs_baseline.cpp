// Bounds from pairs of families of columns on any processor.
#include "kernels/pair_impl.hpp"

namespace provetree::kernels {
constinit const PairKernel pairs_baseline{&bound_pair};
}
