// The columns of a node as the class kernel wants them: blocks, room for what is kept of them, an order of sweeping.
#pragma once

#include <cstdint>
#include <vector>

#include "base/raw_vector.hpp"
#include "kernels/class_kernel.hpp"
#include "run/context.hpp"
#include "sweeps/node.hpp"

namespace provetree {

class ClassColumns {
  public:
    explicit ClassColumns(const Context& context) : context_(context) {}

    // `weights`: of the rows of the node; null where all are one.
    void start(const Node& node, const std::int32_t* weights, int classes);

    // Sweeps all columns. Columns that gave the best stumps lately come first: good stumps early rule out the others.
    void sweep(const Node& node, const ClassLooks& looks, const ClassKernel& kernel, ClassLanes& lanes);

  private:
    bool tiny() const { return (context_.switches & kTinyBlocks) != 0; }
    void find_blocks(const Node& node, const std::int32_t* weights);
    void find_large_blocks(const Node& node);
    void make_room();
    void order_columns(const Node& node);
    void put_first(const Node& node);
    bool counts(const Node& node, Index c) const;
    void count_rows(const Node& node, std::size_t place, const ClassKernel& kernel, const ClassLanes& lanes);
    ClassCount counted(const Node& node, Index c, std::size_t room);

    const Context& context_;
    std::size_t classes_ = 0;
    bool all_kept_ = true;  // there is room for all columns at once
    std::vector<ClassColumn> columns_;
    std::vector<std::vector<ClassBlock>> blocks_, large_;
    RawVector<std::int32_t> numbers_;
    LineVector<ClassCosts> costs_;
    RawVector<ClassCounts> counts_;
    // Of each column of the node: whether it was swept, whether its rows have places for the kernel's count, and these.
    std::vector<std::uint8_t> swept_, placed_;
    std::vector<RawVector<std::uint16_t>> places_;
    LineVector<std::int32_t> cells_[2];
    std::vector<Index> order_;             // columns of the node in the order of sweeping
    std::vector<std::uint64_t> won_;       // of each column of the table: when it last gave the best stumps
    std::vector<std::uint64_t> improved_;  // of each column of the node: how many stumps, in one panel
    std::uint64_t clock_ = 0;
};

}  // namespace provetree
