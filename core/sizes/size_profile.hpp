// Bounds that a solved node leaves to nodes with more or fewer rows, entry by entry; see sweeps/profile.hpp.
#pragma once

#include <memory>
#include <vector>

#include "loss/loss.hpp"
#include "run/context.hpp"
#include "sizes/size_answer.hpp"
#include "sweeps/node.hpp"

namespace provetree {

// Bounds of both sides of a split, for K sizes of either side.
template <int K>
struct SizePoint {
    Index rank = 0;
    Index position = 0;
    Weight weight = 0;  // of the rows going left
    PerSize<K> left{}, right{};
};

template <int K>
struct SizePoints {
    Index id = 0;                        // column of the table
    std::vector<SizePoint<K>> points{};  // by position
};

// Of a node whose sides have K sizes.
template <int K>
struct SizeProfile {
    explicit SizeProfile(ByteCount& held) : held_(held) {}
    ~SizeProfile() { held_ -= bytes_; }
    SizeProfile(const SizeProfile&) = delete;
    SizeProfile& operator=(const SizeProfile&) = delete;

    Index rows = 0;
    Weight weight = 0;
    std::vector<SizePoints<K>> columns{};  // by id

    const std::vector<SizePoint<K>>* find(Index id) const;
    // Adds what this profile holds to the running total of its search.
    void account();

  private:
    ByteCount& held_;
    std::uint64_t bytes_ = 0;
};

template <int K>
using SizeProfilePtr = std::shared_ptr<const SizeProfile<K>>;

// What the profiles of a subset (inner) and of a superset (outer) of a node's rows know of the splits of a column, by
// position in the node. Either may be null.
template <int K>
std::vector<SizePoint<K>> size_hints(const Node& node, const NodeColumn& column, const SizeProfile<K>* inner,
                                     const SizeProfile<K>* outer, const Loss& loss, bool lipschitz);

}  // namespace provetree
