// Pairs of opposed rows: a flow between two classes of rows, along augmenting paths; see sweeps/opposed_rows.hpp.
#include "sweeps/opposed_rows.hpp"

#include <algorithm>
#include <bit>
#include <numeric>
#include <utility>

namespace provetree {

namespace {

constexpr std::size_t kRowsAtOnce = 1u << 13;  // a bit for each two of them: two megabytes
constexpr std::size_t kTinyPart = 16;          // for tests
constexpr std::size_t kSampledRows = 1024;
constexpr Index kNone = ~Index{0};

using Bits = std::vector<std::uint64_t>;

void add(Bits& bits, Index at) { bits[at / 64] |= std::uint64_t{1} << (at % 64); }
void remove(Bits& bits, Index at) { bits[at / 64] &= ~(std::uint64_t{1} << (at % 64)); }
// The lowest of some bits of a word.
Index first_of(std::size_t word, std::uint64_t some) {
    return static_cast<Index>(word * 64 + static_cast<std::size_t>(std::countr_zero(some)));
}

}  // namespace

// Rows of either class that are paired with each other: the low ones are of the second class.
class OpposedRows::Part {
  public:
    // The rows most likely to find few partners come first.
    Part(Context& context, const Node& node, std::vector<Index> high, std::vector<Index> low)
        : context_(context), node_(node), high_(std::move(high)), low_(std::move(low)), words_((low_.size() + 63) / 64),
          left_high_(high_.size()), left_low_(low_.size()), partners_(low_.size()), open_(words_, 0),
          present_(words_, 0), high_gone_(high_.size(), 0), from_low_(high_.size(), kNone),
          from_high_(low_.size(), kNone) {
        for (Index i = 0; i < high_.size(); ++i) left_high_[i] = node.weights[high_[i]];
        for (Index i = 0; i < low_.size(); ++i) left_low_[i] = node.weights[low_[i]];
        for (Index i = 0; i < low_.size(); ++i) add(present_, i);
        open_ = present_;
        find_opposed();
    }

    // Pairs as much as can be; returns by how much that is more than before.
    Weight pair() {
        Weight more = 0;
        for (Index high = 0; high < high_.size(); ++high)
            if (left_high_[high] > 0) more += pair_directly(high);
        unseen_ = present_;
        seen_.assign(high_.size(), 0);
        for (Index high = 0; high < high_.size(); ++high)
            while (left_high_[high] > 0) {
                const Weight along_path = augment(high);
                if (along_path == 0) break;
                more += along_path;
            }
        return more;
    }

    // Leaves out rows that are wrong where less is wrong than all pairs and `room` together. Returns by how much less
    // is paired then.
    template <class Use>
    Weight settle(Weight room, const Use& use) {
        const Flags low_leaves = low_to_leave(room), high_leaves = high_to_leave(room);
        Weight less = 0;
        for (Index low = 0; low < low_.size(); ++low) {
            std::erase_if(partners_[low], [&](const Partner& partner) {
                if (!low_leaves[low] && !high_leaves[partner.high]) return false;
                left_low_[low] += partner.weight;
                left_high_[partner.high] += partner.weight;
                less += partner.weight;
                return true;
            });
            if (!low_leaves[low]) {
                if (left_low_[low] > 0) add(open_, low);
                continue;
            }
            use(low_[low]);
            left_low_[low] = 0;
            remove(present_, low);
            remove(open_, low);
        }
        for (Index high = 0; high < high_.size(); ++high) {
            if (!high_leaves[high]) continue;
            use(high_[high]);
            left_high_[high] = 0;
            high_gone_[high] = 1;
        }
        context_.monitor.work(high_.size() + low_.size());
        return less;
    }

  private:
    using Flags = std::vector<std::uint8_t>;
    struct Partner {
        Index high;
        Weight weight;
    };
    const std::uint64_t* opposed_to(Index high) const { return opposed_.data() + high * words_; }

    // Rows that are opposed to others which weigh so much beyond their pairs.
    Flags low_to_leave(Weight room) const {
        Flags leaves(low_.size(), 0);
        if (std::accumulate(left_high_.begin(), left_high_.end(), std::int64_t{0}) < room) return leaves;
        std::vector<Weight> beyond(low_.size(), 0);
        Bits undecided = present_;
        for (Index high = 0; high < high_.size(); ++high) {
            if (left_high_[high] == 0) continue;
            each_of(high, undecided, [&](Index low) {
                beyond[low] += left_high_[high];
                leaves[low] = beyond[low] >= room;
                if (leaves[low]) remove(undecided, low);
                return true;
            });
        }
        return leaves;
    }
    Flags high_to_leave(Weight room) const {
        Flags leaves(high_.size(), 0);
        if (std::accumulate(left_low_.begin(), left_low_.end(), std::int64_t{0}) < room) return leaves;
        for (Index high = 0; high < high_.size(); ++high) {
            if (high_gone_[high]) continue;
            Weight beyond = 0;
            each_of(high, open_, [&](Index low) { return (beyond += left_low_[low]) < room; });
            leaves[high] = beyond >= room;
        }
        return leaves;
    }

    // For each high row the low rows that are nowhere above it.
    void find_opposed() {
        opposed_.resize(high_.size() * words_);
        for (Index high = 0; high < high_.size(); ++high)
            std::copy(present_.begin(), present_.end(), opposed_.begin() + static_cast<std::ptrdiff_t>(high * words_));
        std::vector<Index> number(node_.rows, kNone);
        for (Index i = 0; i < high_.size(); ++i) number[high_[i]] = i;
        for (Index i = 0; i < low_.size(); ++i) number[low_[i]] = i;
        for (const NodeColumn& column : node_.columns) {
            keep_opposed_on(column, number);
            context_.monitor.work(node_.rows + high_.size() * words_ / 8);
        }
    }
    void keep_opposed_on(const NodeColumn& column, const std::vector<Index>& number) {
        const int direction = context_.rules->direction(column.id);
        const auto at = [&](Index i) { return direction < 0 ? node_.rows - 1 - i : i; };
        Bits so_far(words_, 0);
        for (Index begin = 0, end; begin < node_.rows; begin = end) {
            for (end = begin + 1; end < node_.rows && column.ranks[at(end)] == column.ranks[at(begin)];) ++end;
            if (direction == 0) std::fill(so_far.begin(), so_far.end(), 0);
            const auto each = [&](std::uint32_t of_class, const auto& use) {
                for (Index i = begin; i < end; ++i) {
                    const Index row = column.order[at(i)] & entry::kRowMask;
                    if (number[row] != kNone && node_.classes[row] == of_class) use(number[row]);
                }
            };
            each(1, [&](Index low) { add(so_far, low); });
            each(0, [&](Index high) {
                std::uint64_t* const bits = opposed_.data() + high * words_;
                for (std::size_t word = 0; word < words_; ++word) bits[word] &= so_far[word];
            });
        }
    }

    // Of the low rows that are opposed to a high one and among some, one after the other, as long as it is wanted.
    template <class Use>
    void each_of(Index high, const Bits& among, const Use& use) const {
        const std::uint64_t* const bits = opposed_to(high);
        for (std::size_t word = 0; word < words_; ++word)
            for (std::uint64_t some = bits[word] & among[word]; some; some &= some - 1)
                if (!use(first_of(word, some))) return;
    }

    void take(Index high, Index low, Weight weight) {
        left_high_[high] -= weight;
        left_low_[low] -= weight;
        if (left_low_[low] == 0) remove(open_, low);
    }
    // With rows that have room.
    Weight pair_directly(Index high) {
        Weight more = 0;
        each_of(high, open_, [&](Index low) {
            const Weight weight = std::min(left_high_[high], left_low_[low]);
            partners_[low].push_back({high, weight});
            take(high, low, weight);
            more += weight;
            return left_high_[high] > 0;
        });
        return more;
    }

    // Along a path on which partners change. What a search has seen in vain stays seen: it leads to no room, and no
    // later path leaves it.
    Weight augment(Index start) {
        if (seen_[start]) return 0;
        seen_low_.clear();
        queue_.assign(1, start);
        seen_[start] = 1;
        for (std::size_t next = 0; next < queue_.size(); ++next) {
            const Index high = queue_[next];
            const std::uint64_t* const bits = opposed_to(high);
            for (std::size_t word = 0; word < words_; ++word) {
                std::uint64_t some = bits[word] & unseen_[word];
                if (const std::uint64_t last = some & open_[word]) {
                    from_high_[first_of(word, last)] = high;
                    return change_partners(start, first_of(word, last));
                }
                unseen_[word] &= ~some;
                for (; some; some &= some - 1) look_behind(high, first_of(word, some));
            }
            context_.monitor.work(words_ / 8);
        }
        return 0;
    }
    void look_behind(Index high, Index low) {
        from_high_[low] = high;
        seen_low_.push_back(low);
        for (const Partner& partner : partners_[low]) {
            if (std::exchange(seen_[partner.high], 1)) continue;
            from_low_[partner.high] = low;
            queue_.push_back(partner.high);
        }
    }
    Weight change_partners(Index start, Index last) {
        const auto partner_of = [&](Index low, Index high) {
            std::vector<Partner>& all = partners_[low];
            const auto is_it = [&](const Partner& partner) { return partner.high == high; };
            const auto found = std::find_if(all.begin(), all.end(), is_it);
            return found != all.end() ? found : all.insert(found, {high, 0});
        };
        Weight most = std::min(left_high_[start], left_low_[last]);
        for (Index high = from_high_[last]; high != start; high = from_high_[from_low_[high]])
            most = std::min(most, partner_of(from_low_[high], high)->weight);
        for (Index low = last;;) {
            const Index high = from_high_[low];
            partner_of(low, high)->weight += most;
            if (high == start) break;
            low = from_low_[high];
            const auto before = partner_of(low, high);
            before->weight -= most;
            if (before->weight == 0) partners_[low].erase(before);
        }
        take(start, last, most);
        for (const Index low : seen_low_) add(unseen_, low);
        for (const Index high : queue_) seen_[high] = 0;
        return most;
    }

    Context& context_;
    const Node& node_;
    const std::vector<Index> high_, low_;  // rows of the node, of the first and the second class
    const std::size_t words_;
    std::vector<Weight> left_high_, left_low_;    // what is in no pair
    std::vector<std::vector<Partner>> partners_;  // of the low rows
    Bits opposed_;                                // low rows, for each high one
    Bits open_, present_;                         // low rows that are not all paired, and those that are not left out
    Flags high_gone_;                             // those that are left out
    // Of the search for paths:
    Bits unseen_;
    Flags seen_;
    std::vector<Index> from_low_, from_high_, queue_, seen_low_;
};

bool OpposedRows::possible(const Context& context, const Node& root) {
    if (!context.rules || !context.rules->directed() || root.by_class.size() != 2) return false;
    return std::all_of(root.columns.begin(), root.columns.end(), [&](const NodeColumn& column) {
        return context.rules->direction(column.id) || column.groups == 2;
    });
}

OpposedRows::OpposedRows(Context& context, const Node& root) : context_(context), root_(root), wrong_(root.rows, 0) {}

OpposedRows::~OpposedRows() = default;

// Those likely to find few partners come first: rows of the first class from below, those of the second from above.
OpposedRows::ByHeight OpposedRows::by_height(std::size_t step) const {
    const Table& table = context_.table;
    std::vector<std::pair<double, Index>> rows;
    for (std::size_t row = 0; row < root_.rows; row += step) {
        double height = 0;
        for (const NodeColumn& column : root_.columns)
            height += context_.rules->direction(column.id) *
                      static_cast<double>(table.ranks[column.id * std::size_t{table.rows} + row]) /
                      static_cast<double>(table.tops[column.id]);
        rows.emplace_back(height, static_cast<Index>(row));
    }
    std::sort(rows.begin(), rows.end());
    ByHeight found;
    for (const auto& [height, row] : rows) found.of_class[root_.classes[row]].push_back(row);
    std::reverse(found.of_class[1].begin(), found.of_class[1].end());
    return found;
}

bool OpposedRows::likely(Weight weight) const {
    const std::size_t step = root_.rows / kSampledRows;
    if (step < 2) return true;
    ByHeight some = by_height(step);
    Part part(context_, root_, std::move(some.of_class[0]), std::move(some.of_class[1]));
    return std::int64_t{part.pair()} * static_cast<std::int64_t>(step) >= weight;
}

void OpposedRows::pair() {
    if (parts_.empty()) {
        const ByHeight all = by_height(1);
        const std::size_t at_once = context_.tiny_samples() ? kTinyPart : kRowsAtOnce;
        const std::size_t parts = (root_.rows + at_once - 1) / at_once;
        // Each part has rows of all heights.
        for (std::size_t first = 0; first < parts; ++first) {
            std::vector<Index> some[2];
            for (const std::size_t cls : {0, 1})
                for (std::size_t i = first; i < all.of_class[cls].size(); i += parts)
                    some[cls].push_back(all.of_class[cls][i]);
            parts_.push_back(std::make_unique<Part>(context_, root_, std::move(some[0]), std::move(some[1])));
        }
    }
    for (const auto& part : parts_) pairs_ += part->pair();
}

void OpposedRows::settle(Weight errors) {
    for (Index before = kNone; count_wrong_ != before && least() < errors;) {
        before = count_wrong_;
        const Weight room = errors - least();
        for (const auto& part : parts_)
            pairs_ -= part->settle(room, [&](Index row) {
                wrong_[row] = 1;
                weight_wrong_ += root_.weights[row];
                ++count_wrong_;
            });
        pair();
    }
}

}  // namespace provetree
