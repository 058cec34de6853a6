// The sweeps for squared error on any processor.
#include "kernels/outputs_impl.hpp"
#include "kernels/squared_impl.hpp"

namespace provetree::kernels {
constinit const SquaredKernel squared_baseline{&count_squared, &sweep_squared<false>, &sweep_squared<true>,
                                               &sweep_outputs};
}
