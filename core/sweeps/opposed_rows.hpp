// Opposed rows: where columns must rise, a row of the second class that lies nowhere above a row of the first one.
// Trees that keep directions never predict less above than below, because at the first split that parts two rows the
// lower one is on the lower side. So each of them gets one of two opposed rows wrong, or both, however deep it is.
//
// Pairs of opposed rows, of which no row is in more than its weight, bound what a tree gets wrong. Where data go
// against the directions, nearly all rows of a class are in a pair: then the bound is nearly what the best tree costs,
// while bounds that know no directions see nothing of it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "run/context.hpp"
#include "sweeps/node.hpp"

namespace provetree {

class OpposedRows {
  public:
    // Of all rows of the table; `root` stays where it is.
    OpposedRows(Context& context, const Node& root);
    ~OpposedRows();
    OpposedRows(const OpposedRows&) = delete;
    OpposedRows& operator=(const OpposedRows&) = delete;

    // Whether rows can be opposed at all: two classes, and a direction for every column of more than two values. Rows
    // must have the same value in a column without one.
    static bool possible(const Context& context, const Node& root);

    // Whether a sample of the rows has pairs of such a weight, in proportion.
    bool likely(Weight weight) const;
    // Pairs rows, of as much weight as can be: exactly on few rows, and part by part on many.
    void pair();

    // What trees get wrong at least.
    Weight least() const { return pairs_ + weight_wrong_; }
    // Finds rows that every tree gets wrong that gets less than this wrong. If such a tree had a row right, all rows
    // opposed to it would be wrong, and what they weigh beyond their pairs would come on top of all pairs. What is
    // wrong anyway leaves its partners to others, so that the bound may rise.
    void settle(Weight errors);
    // By row, whether it is one of these; and how many they are.
    const std::vector<std::uint8_t>& wrong() const { return wrong_; }
    Index count_wrong() const { return count_wrong_; }
    Weight weight_wrong() const { return weight_wrong_; }

  private:
    class Part;
    // Every so many rows, each class by how high its rows lie on all columns together.
    struct ByHeight {
        std::vector<Index> of_class[2];
    };
    ByHeight by_height(std::size_t step) const;

    Context& context_;
    const Node& root_;
    std::vector<std::unique_ptr<Part>> parts_;
    Weight pairs_ = 0, weight_wrong_ = 0;
    Index count_wrong_ = 0;
    std::vector<std::uint8_t> wrong_;
};

}  // namespace provetree
