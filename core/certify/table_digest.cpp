// The digest of a table in a certificate; see certify/table_digest.hpp.
#include "certify/table_digest.hpp"

#include <vector>

namespace provetree {

std::pair<std::uint64_t, std::uint64_t> table_digest(const Table& table) {
    constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;
    std::vector<std::uint64_t> keys(table.rows, 0);
    const auto follow = [&](const auto* values) {
        for (Index i = 0; i < table.rows; ++i) keys[i] = keys[i] * kStep + static_cast<std::uint64_t>(values[i]) + 1;
    };
    for (Index c = 0; c < table.columns; ++c) follow(table.ranks + std::size_t{c} * table.rows);
    follow(table.classes);
    std::pair<std::uint64_t, std::uint64_t> sums{0, 0};
    for (Index i = 0; i < table.rows; ++i) {
        const std::uint64_t key = (keys[i] ^ keys[i] >> 32) * kStep;
        sums.first += key * static_cast<std::uint64_t>(table.weights[i]);
        sums.second += key * static_cast<std::uint64_t>(table.counts[i]);
    }
    return sums;
}

}  // namespace provetree
