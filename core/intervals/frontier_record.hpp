// What a frontier leaves on disk, and how another one goes on from there.
#pragma once

#include "intervals/frontier.hpp"
#include "proof/checkpoint.hpp"

namespace provetree {

// What is known of a node now.
KnownNode record_of(const Frontier& frontier);

// The same of a side of a split that was solved to its end.
KnownNode record_of(const Outcome& outcome, Shape shape, Index rows);

// Goes on where an earlier search was, once the splits of the frontier are listed. What is known holds for all rows of
// the node, because it was proven on these rows or on some of them. Trees are taken over where the rows are the same.
void take_up(Frontier& frontier, const KnownNode& known);

// Drops what is known of the sides of splits beyond what a file should hold.
void limit_profiles(Checkpoint& checkpoint);

}  // namespace provetree
