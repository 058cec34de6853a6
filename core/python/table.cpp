// Tables over Python's arrays; see python/bindings.hpp.
#include <algorithm>
#include <utility>

#include "kernels/entry.hpp"
#include "python/bindings.hpp"

namespace provetree {

namespace {

// All bits of the ranks together are the highest one where that is 0 or 1, and are soon found.
Index highest_rank(const Index* ranks, Index rows) {
    Index bits = 0;
    for (Index i = 0; i < rows; ++i) bits |= ranks[i];
    return bits <= 1 ? bits : *std::max_element(ranks, ranks + rows);
}

}  // namespace

BoundTable::BoundTable(Array2<const Index> ranks, Array1<const double> values, Array1<const std::int64_t> value_ends,
                       Array1<const std::int32_t> classes, Array1<const std::int64_t> weights,
                       Array1<const std::int64_t> counts, int n_classes, const std::string& loss,
                       std::optional<Array2<const double>> targets, int cost_bits)
    : ranks_(std::move(ranks)), values_(std::move(values)), classes_(std::move(classes)), weights_(std::move(weights)),
      counts_(std::move(counts)) {
    const std::size_t columns = ranks_.shape(0), rows = classes_.shape(0);
    must(rows > 0 && rows < entry::kRowMask, "A table needs between 1 and 268435454 rows.");
    must(ranks_.shape(1) == rows && weights_.shape(0) == rows && counts_.shape(0) == rows,
         "A table needs ranks, classes, weights and counts over the same rows.");
    must(value_ends.shape(0) == columns, "A table needs the end of the values of each column.");
    must(n_classes >= 1 && n_classes <= 1'000'000, "A table needs between 1 and 1000000 classes.");
    table_.rows = static_cast<Index>(rows);
    table_.columns = static_cast<Index>(columns);
    table_.n_classes = n_classes;
    table_.ranks = ranks_.data();
    table_.classes = classes_.data();
    table_.weights = weights_.data();
    table_.counts = counts_.data();
    check_rows();
    for (std::size_t c = 0; c < columns; ++c) add_column(c, c ? value_ends.data()[c - 1] : 0, value_ends.data()[c]);
    searched_ = table_;
    if (loss == "errors") return;
    must(!targets || targets->shape(0) == rows, "A table needs targets over the same rows.");
    must(cost_bits >= 8 && cost_bits <= 48, "A table needs cost_bits between 8 and 48.");
    measure_.emplace(MeasureInput{.loss = loss,
                                  .rows = table_.rows,
                                  .weights = table_.weights,
                                  .classes = table_.classes,
                                  .n_classes = n_classes,
                                  .targets = targets ? targets->data() : nullptr,
                                  .width = targets ? static_cast<int>(targets->shape(1)) : 0,
                                  .cost_bits = cost_bits});
    searched_.measure = &*measure_;
    searched_.weights = measure_->reach().data();
}

void BoundTable::check_rows() {
    std::int64_t total_weight = 0, total_count = 0;
    for (Index i = 0; i < table_.rows; ++i) {
        must(table_.classes[i] >= 0 && table_.classes[i] < table_.n_classes,
             "A table needs classes between 0 and n_classes - 1.");
        const std::int64_t weight = table_.weights[i], count = table_.counts[i];
        must(weight >= 1 && weight <= kMaxTotalWeight && count >= 1 && count <= kMaxTotalWeight,
             "A table needs weights and counts between 1 and 2**30.");
        total_weight += weight;
        total_count += count;
    }
    must(total_weight <= kMaxTotalWeight && total_count <= kMaxTotalWeight,
         "A table needs weights and counts that sum to at most 2**30.");
}

void BoundTable::add_column(std::size_t c, std::int64_t begin, std::int64_t end) {
    must(begin >= 0 && end >= begin && end <= static_cast<std::int64_t>(values_.shape(0)),
         "A table needs ends of values that rise, within the values.");
    table_.values.push_back(values_.data() + begin);
    const Index top = highest_rank(table_.ranks + c * table_.rows, table_.rows);
    must(std::int64_t{top} < end - begin, "A table needs ranks that index the values of their column.");
    table_.tops.push_back(top);
}

}  // namespace provetree
