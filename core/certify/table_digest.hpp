// The digest of a table in a certificate; docs/certificate.md says what it is.
#pragma once

#include <cstdint>
#include <utility>

#include "table/table.hpp"

namespace provetree {

// Sums over the rows, whose order does not matter: of their keys times their weight, and times their count.
std::pair<std::uint64_t, std::uint64_t> table_digest(const Table& table);

}  // namespace provetree
