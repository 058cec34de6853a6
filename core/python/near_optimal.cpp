// Near-optimal trees for Python.
#include "near_optimal/near_optimal.hpp"

#include "python/bindings.hpp"

namespace provetree {

namespace {

const char* name_of(LevelStatus status) {
    switch (status) {
        case LevelStatus::kComplete: return "complete";
        case LevelStatus::kTimeLimit: return "time_limit";
        case LevelStatus::kMemoryLimit: return "memory_limit";
        case LevelStatus::kTooMany: return "too_many";
        default: return "interrupted";
    }
}

// Lists of counts one after the other, and where each ends.
struct FlatCounts {
    std::vector<std::int64_t> ends, cost;
    std::vector<std::uint64_t> high, low;  // of the count, which has 128 bits
    std::vector<double> margin;

    void add(const TreeCounts& trees) {
        for (const CostCount& each : trees) {
            cost.push_back(each.cost);
            high.push_back(static_cast<std::uint64_t>(each.count >> 64));
            low.push_back(static_cast<std::uint64_t>(each.count));
            margin.push_back(each.margin);
        }
        ends.push_back(static_cast<std::int64_t>(cost.size()));
    }
    nb::dict dict() {
        return dict_of("ends"_a = to_numpy(std::move(ends)), "cost"_a = to_numpy(std::move(cost)),
                       "high"_a = to_numpy(std::move(high)), "low"_a = to_numpy(std::move(low)),
                       "margin"_a = to_numpy(std::move(margin)));
    }
};

// One side of every split.
struct FlatSides {
    std::vector<std::int64_t> leaf;
    std::vector<std::int32_t> label;
    FlatCounts grown;

    void add(const SideTrees& side) {
        leaf.push_back(side.leaf);
        label.push_back(side.label);
        grown.add(side.grown);
    }
    nb::dict dict() {
        return dict_of("leaf"_a = to_numpy(std::move(leaf)), "label"_a = to_numpy(std::move(label)),
                       "grown"_a = grown.dict());
    }
};

nb::dict dict_of_splits(const std::vector<LevelSplit>& splits) {
    std::vector<std::int64_t> column, rank, feature, with_ends, with_cost;
    std::vector<std::int32_t> with_feature;
    std::vector<double> margin;
    FlatSides left, right;
    for (const LevelSplit& split : splits) {
        column.push_back(split.question.column);
        rank.push_back(split.question.rank);
        feature.push_back(split.question.feature);
        margin.push_back(split.question.margin);
        left.add(split.left);
        right.add(split.right);
        for (const auto& [of, cost] : split.least_with) {
            with_feature.push_back(static_cast<std::int32_t>(of));
            with_cost.push_back(cost);
        }
        with_ends.push_back(static_cast<std::int64_t>(with_cost.size()));
    }
    return dict_of("column"_a = to_numpy(std::move(column)), "rank"_a = to_numpy(std::move(rank)),
                   "feature"_a = to_numpy(std::move(feature)), "margin"_a = to_numpy(std::move(margin)),
                   "left"_a = left.dict(), "right"_a = right.dict(), "with_ends"_a = to_numpy(std::move(with_ends)),
                   "with_feature"_a = to_numpy(std::move(with_feature)),
                   "with_cost"_a = to_numpy(std::move(with_cost)));
}

nb::dict dict_of_level(const Level& level) {
    FlatCounts grown, with;
    std::vector<std::int32_t> features;
    grown.add(level.trees.grown);
    for (const FeatureTrees& each : level.trees.with) {
        features.push_back(static_cast<std::int32_t>(each.feature));
        with.add(each.trees);
    }
    return dict_of("status"_a = name_of(level.status), "leaf"_a = level.trees.leaf, "label"_a = level.trees.label,
                   "grown"_a = grown.dict(), "with_feature"_a = to_numpy(std::move(features)), "with"_a = with.dict(),
                   "splits"_a = dict_of_splits(level.splits), "entries"_a = level.entries, "sides"_a = level.sides);
}

// The table and what is asked of it, as Python gives them.
struct Asked {
    const Table& table;
    const std::int32_t* features;
    const std::uint8_t* kinds;
    LevelRequest request;
};

using PathSteps = std::vector<std::tuple<std::int64_t, std::int64_t, bool>>;

Asked asked_of(const BoundTable& bound, const Array1<const std::int32_t>& features,
               const Array1<const std::uint8_t>& kinds, int depth, std::int64_t limit, std::int64_t error_scale,
               std::int64_t split_penalty, std::int64_t min_samples_leaf, bool redundant_splits, double time_limit,
               std::uint64_t memory_limit, const std::string& kernel, unsigned switches) {
    const Table& table = bound.searched();
    must(table.measure == nullptr, "Trees are counted in a table whose loss is errors.");
    must(features.shape(0) == table.columns && kinds.shape(0) == table.columns,
         "Counting trees needs the feature and the kind of each column.");
    must(depth >= 0 && depth <= kDeepestCounted, "Counting trees needs a depth between 0 and 3.");
    must(min_samples_leaf >= 1 && error_scale >= 1 && split_penalty >= 0 && limit >= 0 && limit < kInfinite / 4,
         "Counting trees needs min_samples_leaf >= 1, error_scale >= 1, split_penalty >= 0 and limit >= 0.");
    for (std::size_t c = 0; c < table.columns; ++c)
        must(features.data()[c] >= 0 && kinds.data()[c] <= 3,
             "Counting trees needs features from 0 on, kinds up to 3.");
    LevelRequest request;
    request.depth = depth;
    request.limit = limit;
    request.min_leaf = min_samples_leaf;
    request.error_scale = error_scale;
    request.rules = {split_penalty, redundant_splits};
    request.time_limit = time_limit;
    request.memory_limit = memory_limit;
    request.kernel = kernel;
    request.switches = switches;
    return {table, features.data(), kinds.data(), request};
}

nb::dict count_trees(const BoundTable& bound, const Array1<const std::int32_t>& features,
                     const Array1<const std::uint8_t>& kinds, int depth, std::int64_t limit, std::int64_t error_scale,
                     std::int64_t split_penalty, std::int64_t min_samples_leaf, bool redundant_splits,
                     double time_limit, std::uint64_t memory_limit, const std::string& kernel, unsigned switches,
                     const PathSteps& path, bool keep_splits) {
    Asked asked = asked_of(bound, features, kinds, depth, limit, error_scale, split_penalty, min_samples_leaf,
                           redundant_splits, time_limit, memory_limit, kernel, switches);
    asked.request.keeps_splits = keep_splits;
    for (const auto& [column, rank, left] : path) {
        must(column >= 0 && column < asked.table.columns && rank >= 0 &&
                 rank < asked.table.tops[static_cast<std::size_t>(column)],
             "Counting trees needs a path of columns and ranks of the table.");
        asked.request.path.push_back({static_cast<Index>(column), static_cast<Index>(rank), left});
    }
    Signals signals;
    const auto tick = [&] {
        nb::gil_scoped_acquire acquire;
        return signals.go_on();
    };
    const Level level =
        without_gil([&] { return count_near_optimal(asked.table, asked.features, asked.kinds, asked.request, tick); });
    signals.rethrow();
    return dict_of_level(level);
}

nb::tuple count_row_votes(const BoundTable& bound, const Array1<const std::int32_t>& features,
                          const Array1<const std::uint8_t>& kinds, int depth, std::int64_t limit,
                          std::int64_t error_scale, std::int64_t split_penalty, std::int64_t min_samples_leaf,
                          bool redundant_splits, double time_limit, std::uint64_t memory_limit,
                          const std::string& kernel, unsigned switches) {
    const Asked asked = asked_of(bound, features, kinds, depth, limit, error_scale, split_penalty, min_samples_leaf,
                                 redundant_splits, time_limit, memory_limit, kernel, switches);
    Signals signals;
    const auto tick = [&] {
        nb::gil_scoped_acquire acquire;
        return signals.go_on();
    };
    VotesResult result =
        without_gil([&] { return count_votes(asked.table, asked.features, asked.kinds, asked.request, tick); });
    signals.rethrow();
    const std::size_t rows = result.votes.empty() ? 0 : asked.table.rows;
    return nb::make_tuple(shaped(std::move(result.votes), rows, asked.table.n_classes), name_of(result.status));
}

}  // namespace

void register_near_optimal(nb::module_& module) {
    module.def("count_trees", &count_trees, "table"_a, "features"_a, "kinds"_a, nb::kw_only(), "depth"_a, "limit"_a,
               "error_scale"_a, "split_penalty"_a, "min_samples_leaf"_a, "redundant_splits"_a, "time_limit"_a,
               "memory_limit"_a, "kernel"_a = "auto", "switches"_a = 0u, "path"_a = PathSteps(),
               "keep_splits"_a = true);
    module.def("count_row_votes", &count_row_votes, "table"_a, "features"_a, "kinds"_a, nb::kw_only(), "depth"_a,
               "limit"_a, "error_scale"_a, "split_penalty"_a, "min_samples_leaf"_a, "redundant_splits"_a,
               "time_limit"_a, "memory_limit"_a, "kernel"_a = "auto", "switches"_a = 0u);
    module.attr("DEEPEST_COUNTED") = kDeepestCounted;
}

}  // namespace provetree
