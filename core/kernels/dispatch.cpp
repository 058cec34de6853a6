// Chooses a kernel at run time from what the processor offers.
#include <stdexcept>

#include "kernels/bit_kernel.hpp"
#include "kernels/cell_kernel.hpp"
#include "kernels/class_kernel.hpp"
#include "kernels/kernel.hpp"
#include "kernels/linear_kernel.hpp"
#include "kernels/pair_kernel.hpp"
#include "kernels/squared_kernel.hpp"

namespace provetree {

namespace {

#if defined(PROVETREE_X86_KERNELS)
bool has_avx2() {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

bool has_avx512() {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512cd");
}

// Counts and squares of bits in vectors.
bool has_bit_vectors() {
    return has_avx512() && __builtin_cpu_supports("avx512bitalg") && __builtin_cpu_supports("avx512vbmi") &&
           __builtin_cpu_supports("gfni");
}
#endif

}  // namespace

std::vector<std::string> available_kernels() {
    std::vector<std::string> names{"baseline"};
#if defined(PROVETREE_X86_KERNELS)
    if (has_avx2()) names.emplace_back("avx2");
    if (has_avx512()) names.emplace_back("avx512");
#endif
    return names;
}

const Kernel& choose_kernel(const std::string& name) {
    const std::vector<std::string> names = available_kernels();
    std::string wanted = name == "auto" ? names.back() : name;
    bool runs_here = false;
    for (const std::string& candidate : names) runs_here = runs_here || candidate == wanted;
    if (!runs_here) {
        std::string allowed;
        for (const std::string& candidate : names) allowed += (allowed.empty() ? "'" : ", '") + candidate + "'";
        throw std::invalid_argument("The kernel must be one of 'auto', " + allowed + " on this machine. Got '" + name +
                                    "' instead.");
    }
#if defined(PROVETREE_X86_KERNELS)
    if (wanted == "avx512") return kernels::avx512;
    if (wanted == "avx2") return kernels::avx2;
#endif
    return kernels::baseline;
}

const BitKernel& choose_bit_kernel(const std::string& name) {
    const std::string chosen = choose_kernel(name).name;
#if defined(PROVETREE_X86_KERNELS)
    if (chosen == "avx512") return has_bit_vectors() ? kernels::bits_avx512_bitalg : kernels::bits_avx512;
    if (chosen == "avx2") return kernels::bits_avx2;
#endif
    return kernels::bits_baseline;
}

const SquaredKernel& choose_squared_kernel(const std::string& name) {
    const std::string chosen = choose_kernel(name).name;
#if defined(PROVETREE_X86_KERNELS)
    if (chosen == "avx512") return kernels::squared_avx512;
    if (chosen == "avx2") return kernels::squared_avx2;
#endif
    return kernels::squared_baseline;
}

const PairKernel& choose_pair_kernel(const std::string& name) {
    const std::string chosen = choose_kernel(name).name;
#if defined(PROVETREE_X86_KERNELS)
    if (chosen == "avx512") return kernels::pairs_avx512;
    if (chosen == "avx2") return kernels::pairs_avx2;
#endif
    return kernels::pairs_baseline;
}

const ClassKernel& choose_class_kernel(const std::string& name) {
    const std::string chosen = choose_kernel(name).name;
#if defined(PROVETREE_X86_KERNELS)
    if (chosen == "avx512") return kernels::classes_avx512;
    if (chosen == "avx2") return kernels::classes_avx2;
#endif
    return kernels::classes_baseline;
}

const LinearKernel& choose_linear_kernel(const std::string& name) {
    const std::string chosen = choose_kernel(name).name;
#if defined(PROVETREE_X86_KERNELS)
    if (chosen == "avx512") return kernels::linear_avx512;
    if (chosen == "avx2") return kernels::linear_avx2;
#endif
    return kernels::linear_baseline;
}

const CellKernel& choose_cell_kernel(const std::string& name) {
    const std::string chosen = choose_kernel(name).name;
#if defined(PROVETREE_X86_KERNELS)
    if (chosen == "avx512") return kernels::cells_avx512;
    if (chosen == "avx2") return kernels::cells_avx2;
#endif
    return kernels::cells_baseline;
}

}  // namespace provetree
