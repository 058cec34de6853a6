// The least cost of a tree by trying every tree, in plain C, so that a million problems take an hour. Rows are the bits
// of a word; a problem has at most 64 of them. Beside the cost it gives the fewest splits that a tree of this cost has.
// It shares nothing with the core.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t Rows;

typedef struct {
    int64_t cost, splits;
} Best;

typedef struct {
    Rows rows;
    uint32_t problem;  // entries of earlier problems are empty
    int16_t depth, budget;
    Best best;
} Entry;

#define ENTRIES (1u << 20)

static Entry* known;
static uint32_t problem, kept;

static struct {
    int n_rows, n_classes, n_splits;
    int64_t min_leaf, error_scale, penalty;
    Rows of_class[16];
    Rows* splits;  // rows on the left
    const int64_t *weights, *counts;
    int ones;  // all weights and counts are one
} p;

static int64_t sum(const int64_t* numbers, Rows rows) {
    int64_t total = 0;
    if (p.ones) return __builtin_popcountll(rows);
    for (; rows; rows &= rows - 1) total += numbers[__builtin_ctzll(rows)];
    return total;
}

static int64_t leaf_cost(Rows rows) {
    int64_t total = 0, most = 0;
    for (int c = 0; c < p.n_classes; ++c) {
        const int64_t weight = sum(p.weights, rows & p.of_class[c]);
        total += weight;
        if (weight > most) most = weight;
    }
    return p.error_scale * (total - most);
}

static Entry* find(Rows rows, int depth, int64_t budget) {
    uint64_t at = (rows * 0x9e3779b97f4a7c15u) ^ ((uint64_t)depth << 59) ^ ((uint64_t)budget << 47);
    at = (at ^ (at >> 29)) * 0xbf58476d1ce4e5b9u;
    for (uint32_t i = (uint32_t)(at >> 40);; ++i) {
        Entry* entry = &known[i % ENTRIES];
        if (entry->problem != problem) return entry;
        if (entry->rows == rows && entry->depth == depth && entry->budget == budget) return entry;
    }
}

static Best best_of(Rows rows, int depth, int64_t budget) {
    const int64_t all = ((int64_t)1 << depth) - 1, below = all / 2;
    if (budget > all) budget = all;
    Best best = {leaf_cost(rows), 0};
    if (best.cost == 0 || budget <= 0) return best;
    if (depth > 1) {
        const Entry* entry = find(rows, depth, budget);
        if (entry->problem == problem) return entry->best;
    }
    for (int s = 0; s < p.n_splits; ++s) {
        const Rows left = rows & p.splits[s], right = rows & ~p.splits[s];
        if (!left || !right) continue;
        if (p.min_leaf > 1 && (sum(p.counts, left) < p.min_leaf || sum(p.counts, right) < p.min_leaf)) continue;
        const int64_t least = budget - 1 - below > 0 ? budget - 1 - below : 0;
        const int64_t most = budget - 1 < below ? budget - 1 : below;
        for (int64_t share = least; share <= most; ++share) {
            const Best l = best_of(left, depth - 1, share);
            if (p.penalty + l.cost > best.cost) continue;
            const Best r = best_of(right, depth - 1, budget - 1 - share);
            const Best both = {p.penalty + l.cost + r.cost, 1 + l.splits + r.splits};
            if (both.cost < best.cost || (both.cost == best.cost && both.splits < best.splits)) best = both;
        }
    }
    if (depth > 1 && kept < ENTRIES / 2) {
        Entry* entry = find(rows, depth, budget);
        if (entry->problem != problem) ++kept;
        entry->rows = rows;
        entry->problem = problem;
        entry->depth = (int16_t)depth;
        entry->budget = (int16_t)budget;
        entry->best = best;
    }
    return best;
}

// Takes a problem up; `ranks` column after column. Returns 0 where it has too many rows or classes.
int small_problem(int n_rows, int n_columns, const uint32_t* ranks, const int32_t* classes, const int64_t* weights,
                  const int64_t* counts, int n_classes, int64_t min_leaf, int64_t error_scale, int64_t penalty) {
    if (n_rows > 64 || n_classes > 16) return 0;
    if (!known) known = calloc(ENTRIES, sizeof(Entry));
    if (++problem == 0) {
        memset(known, 0, ENTRIES * sizeof(Entry));
        problem = 1;
    }
    kept = 0;
    p.n_rows = n_rows;
    p.n_classes = n_classes;
    p.min_leaf = min_leaf;
    p.error_scale = error_scale;
    p.penalty = penalty;
    p.weights = weights;
    p.counts = counts;
    p.ones = 1;
    memset(p.of_class, 0, sizeof p.of_class);
    for (int i = 0; i < n_rows; ++i) {
        p.of_class[classes[i]] |= (Rows)1 << i;
        p.ones &= weights[i] == 1 && counts[i] == 1;
    }
    free(p.splits);
    p.splits = malloc(sizeof(Rows) * (size_t)(n_columns * n_rows + 1));
    p.n_splits = 0;
    for (int c = 0; c < n_columns; ++c) {
        for (int at = 0; at < n_rows; ++at) {
            Rows left = 0;
            for (int i = 0; i < n_rows; ++i)
                if (ranks[c * n_rows + i] <= ranks[c * n_rows + at]) left |= (Rows)1 << i;
            int seen = 0;
            for (int s = 0; s < p.n_splits; ++s) seen |= p.splits[s] == left;
            if (!seen) p.splits[p.n_splits++] = left;
        }
    }
    return 1;
}

// The least cost of trees of the problem at hand, and the fewest splits of a tree that costs this.
void small_best(int depth, int64_t max_splits, int64_t* cost, int64_t* splits) {
    const Rows all = p.n_rows == 64 ? ~(Rows)0 : ((Rows)1 << p.n_rows) - 1;
    const Best best = best_of(all, depth, max_splits);
    *cost = best.cost;
    *splits = best.splits;
}

// What a tree of the problem at hand costs, with the labels of its leaves; -1 where it is no tree, exceeds the limits
// or has a leaf of too few rows. Nodes in preorder; `column` is negative at a leaf.
static int64_t walk(Rows rows, int depth, const uint32_t* ranks, const int32_t* column, const int32_t* rank_low,
                    const int32_t* label, int n_nodes, int* next, int64_t* splits) {
    const int at = (*next)++;
    if (at >= n_nodes || sum(p.counts, rows) < p.min_leaf || !rows) return -1;
    if (column[at] < 0) return p.error_scale * (sum(p.weights, rows) - sum(p.weights, rows & p.of_class[label[at]]));
    if (depth == 0) return -1;
    Rows left = 0;
    for (Rows rest = rows; rest; rest &= rest - 1) {
        const int i = __builtin_ctzll(rest);
        if (ranks[column[at] * p.n_rows + i] <= (uint32_t)rank_low[at]) left |= (Rows)1 << i;
    }
    ++*splits;
    const int64_t l = walk(left, depth - 1, ranks, column, rank_low, label, n_nodes, next, splits);
    if (l < 0) return -1;
    const int64_t r = walk(rows & ~left, depth - 1, ranks, column, rank_low, label, n_nodes, next, splits);
    return r < 0 ? -1 : l + r + p.penalty;
}

int64_t small_cost(int depth, int64_t max_splits, const uint32_t* ranks, const int32_t* column, const int32_t* rank_low,
                   const int32_t* label, int n_nodes, int64_t* splits) {
    const Rows all = p.n_rows == 64 ? ~(Rows)0 : ((Rows)1 << p.n_rows) - 1;
    int next = 0;
    *splits = 0;
    const int64_t cost = walk(all, depth, ranks, column, rank_low, label, n_nodes, &next, splits);
    return next == n_nodes && *splits <= max_splits ? cost : -1;
}
