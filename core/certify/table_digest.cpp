// The digest of a table in a certificate; see certify/table_digest.hpp.
#include "certify/table_digest.hpp"

#include <vector>

namespace provetree {

std::uint64_t table_digest(const Table& table) {
    constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;
    std::vector<std::uint64_t> keys(table.rows, 0);
    std::uint64_t power = 1, sum = 0;
    const auto add = [&](const auto* values) {
        for (Index i = 0; i < table.rows; ++i) keys[i] += (static_cast<std::uint64_t>(values[i]) + 1) * power;
        power *= kStep;
    };
    // Four columns in one pass over the keys.
    Index c = 0;
    for (; c + 4 <= table.columns; c += 4) {
        const Index *const first = table.ranks + std::size_t{c} * table.rows, *const second = first + table.rows,
                           *const third = second + table.rows, *const fourth = third + table.rows;
        const std::uint64_t next = power * kStep, one_more = next * kStep, last = one_more * kStep;
        const std::uint64_t all = power + next + one_more + last;
        for (Index i = 0; i < table.rows; ++i)
            keys[i] += all + first[i] * power + second[i] * next + third[i] * one_more + fourth[i] * last;
        power = last * kStep;
    }
    for (; c < table.columns; ++c) add(table.ranks + std::size_t{c} * table.rows);
    add(table.classes);
    add(table.weights);
    add(table.counts);
    for (const std::uint64_t key : keys) sum += key * (key >> 32);
    return sum;
}

}  // namespace provetree
