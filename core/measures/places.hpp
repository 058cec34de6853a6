// The cells of a column's blocks by row, for sweeps that take rows as they lie in memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/raw_vector.hpp"
#include "base/types.hpp"
#include "kernels/entry.hpp"

namespace provetree {

// Where the cells of each row's block begin. `entries`: the rows in the order of the column; `each`: cells of a block.
template <class Block>
void place_rows(const std::uint32_t* entries, Index rows, const Block* blocks, std::size_t n_blocks, std::size_t each,
                RawVector<std::uint16_t>& places) {
    places.resize(std::max<std::size_t>(places.size(), rows));
    Index at = 0;
    for (std::size_t b = 0; b < n_blocks; ++b)
        for (; at < blocks[b].end; ++at)
            places[entries[at] & entry::kRowMask] = static_cast<std::uint16_t>(b * each);
}

}  // namespace provetree
