// The splits of a node of depth three, as its rows tell them apart: those of a node of cells (measures/cell_node.hpp),
// or of one side of a split of it, whose sums its frame has.
#pragma once

#include <vector>

#include "measures/cell_frame.hpp"
#include "measures/cell_node.hpp"

namespace provetree {

class CellPart {
  public:
    struct Split {
        int column;
        int feature;     // of the node
        bool has_below;  // the rows that have it are those below the split
        Index rank;
        CellSums below;
    };

    void take_all(const CellNode& node);
    void take_side(const CellFrame& frame, const FrameSide& side);
    // Sums of one side of a split of a frame.
    static CellSums side_of(const CellFrame& frame, const FrameSide& side);

    int columns() const { return static_cast<int>(ids_.size()); }
    // Column of the table.
    Index id(int column) const { return ids_[static_cast<std::size_t>(column)]; }
    // The place of a column of the table; -1 where it does not vary.
    int place_of(Index id) const;
    int splits() const { return static_cast<int>(splits_.size()); }
    // Those of a column adjoin, in the order of its ranks.
    int first_split(int column) const { return first_[static_cast<std::size_t>(column)]; }
    const Split& split(int number) const { return splits_[static_cast<std::size_t>(number)]; }
    const CellSums& all() const { return all_; }

  private:
    std::vector<Index> ids_;  // of the columns that vary
    std::vector<int> first_;  // split of each column, and their number
    std::vector<Split> splits_;
    CellSums all_;
};

}  // namespace provetree
