// Bounds from pairs of families of columns on processors with AVX2.
#include "kernels/pair_impl.hpp"

namespace provetree::kernels {
constinit const PairKernel pairs_avx2{&bound_pair};
}
