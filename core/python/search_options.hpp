// The options of a search as Python gives them: by name, each checked.
#pragma once

#include "python/bindings.hpp"
#include "search/search.hpp"

namespace provetree {

// Throws TypeError for unknown names and wrong types, ValueError for values that cannot be.
SearchOptions search_options_of(const nb::kwargs& given, const Table& table);

}  // namespace provetree
