// The digest of a table in a certificate; docs/certificate.md says what it is.
#pragma once

#include <cstdint>

#include "table/table.hpp"

namespace provetree {

// A sum over the rows, whose order does not matter, of what their ranks, class, weight and count make.
std::uint64_t table_digest(const Table& table);

}  // namespace provetree
