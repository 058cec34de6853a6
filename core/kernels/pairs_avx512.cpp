// Bounds from pairs of families of columns on processors with AVX-512.
#include "kernels/pair_impl.hpp"

namespace provetree::kernels {
constinit const PairKernel pairs_avx512{&bound_pair};
}
