// What a search proves of the splits of its root, handed to a search of the same rows with fewer of the columns.
//
// A tree that asks about some of the columns is a tree of all of them: no side of a split costs less than it was proven
// to cost with more columns to ask about. So bounds of sides stay. Trees do not, for they may ask about a column that
// is gone; and nothing is settled, for a higher cost may be asked about than before. (Switch `inheritance`.)
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "loss/loss.hpp"
#include "proof/checkpoint.hpp"

namespace provetree {

struct Handover {
    Loss loss;                         // that the bounds are told in
    std::size_t columns = 0;           // of the table
    KnownNode root;                    // bounds and nothing else
    std::vector<std::uint8_t> sample;  // by row: whether the bounds were proven on it; empty: on all rows

    // What holds with these columns alone, by their new numbers; `kept` is in order.
    std::shared_ptr<const Handover> with(const std::vector<Index>& kept) const;
    // Whether it is about trees of this shape, or of more splits, on a table of this size.
    bool fits(const Loss& of, const Table& table, Shape shape) const;
};
using HandoverPtr = std::shared_ptr<const Handover>;

}  // namespace provetree
