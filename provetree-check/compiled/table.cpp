// The ordered columns of a table, and its merged rows; see table.hpp.
#include "table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

namespace ptcheck {

namespace {

const vector<Cell>& column_of(const Cells& cells, const string& name) {
    const auto found = cells.find(name);
    need(found != cells.end(), "the table has no column '" + name + "'");
    return found->second;
}

// The same text, or the same number.
bool same_label(const string& one, const string& other) {
    double x = 0, y = 0;
    return one == other || (is_number(one, x) && is_number(other, y) && x == y);
}

int class_of(const Header& header, const string& label) {
    for (size_t c = 0; c < header.classes.size(); ++c)
        if (same_label(header.classes[c].first, label)) return static_cast<int>(c);
    throw Refused("the label '" + label.substr(0, 40) + "' is not in the certificate");
}

// Ranks without gaps between them.
void make_dense(Ranks& ranks) {
    Ranks present = ranks;
    std::sort(present.begin(), present.end());
    present.erase(std::unique(present.begin(), present.end()), present.end());
    for (int& rank : ranks)
        rank = static_cast<int>(std::lower_bound(present.begin(), present.end(), rank) - present.begin());
}

// The ordered columns of all features on the rows that are present.
class Ordering {
  public:
    Ordering(const Header& header, const Cells& cells, const vector<size_t>& present)
        : header_(header), cells_(cells), present_(present), numbers_(header.features.size()),
          missing_(header.features.size()) {
        for (size_t f = 0; f < header.features.size(); ++f) {
            const string& kind = header.features[f].kind;
            if (kind == "category" || kind == "is" || kind == "empty") {
                order_category(f);
                continue;
            }
            kind == "sum" ? add_up(f) : read_numbers(f);
            order_numbers(f);
        }
    }
    vector<Ranks> columns;

  private:
    void order_category(size_t f) {
        const Feature& feature = header_.features[f];
        const vector<Cell>& cells = column_of(cells_, feature.name);
        const auto add = [&](const auto& has) {
            Ranks& ranks = columns.emplace_back();
            for (size_t i : present_) ranks.push_back(has(cells[i]) ? 0 : 1);
        };
        const std::set<string> known(feature.rest.begin(), feature.rest.end());
        for (size_t i : present_)
            need(feature.kind != "category" || cells[i].missing || known.count(cells[i].text),
                 "a column has a category that is not in the certificate");
        size_t values = feature.kind == "empty" ? 0 : feature.rest.size();
        for (size_t k = 0; k < values; ++k)
            add([&](const Cell& cell) { return !cell.missing && cell.text == feature.rest[k]; });
        if (feature.kind != "is") add([](const Cell& cell) { return cell.missing; });
    }

    void read_numbers(size_t f) {
        const vector<Cell>& cells = column_of(cells_, header_.features[f].name);
        std::unordered_map<string, double> read;  // tables often repeat few numbers
        for (size_t i : present_) {
            missing_[f].push_back(cells[i].missing);
            const auto known = read.find(cells[i].text);
            double value = 0;
            if (!cells[i].missing) value = known != read.end() ? known->second : number(cells[i].text) + 0.0;
            if (!cells[i].missing && known == read.end() && read.size() < 4096) read[cells[i].text] = value;
            numbers_[f].push_back(value);
        }
    }

    // Both products are rounded, then their sum. Sums closer to the next one than the noise are equal.
    void add_up(size_t f) {
        const Feature& sum = header_.features[f];
        double size = 0;
        vector<double>& values = numbers_[f];
        for (size_t i = 0; i < present_.size(); ++i) {
            const double x = numbers_[sum.first][i], y = numbers_[sum.second][i];
            const volatile double a = sum.a * x, b = sum.b * y;  // no fused operation
            values.push_back(a + b);
            missing_[f].push_back(missing_[sum.first][i] || missing_[sum.second][i] || std::isnan(values.back()));
            if (missing_[f].back())
                values.back() = 0;
            else
                size = std::max(size, std::fabs(a) + std::fabs(b));
        }
        need(sum.noise <= 1e-12 * size, "sums of two features that differ are taken for equal");
        vector<double> ordered;
        for (size_t i = 0; i < values.size(); ++i)
            if (!missing_[f][i]) ordered.push_back(values[i]);
        std::sort(ordered.begin(), ordered.end());
        std::map<double, double> highest;  // of the group of a value
        for (size_t i = ordered.size(); i-- > 0;) {
            const bool ends = i + 1 == ordered.size() || ordered[i + 1] - ordered[i] > sum.noise;
            highest[ordered[i]] = ends ? ordered[i] : highest[ordered[i + 1]];
        }
        for (size_t i = 0; i < values.size(); ++i)
            if (!missing_[f][i]) values[i] = highest[values[i]];
    }

    // A rank is the number of cuts below the value.
    void order_numbers(size_t f) {
        const Feature& feature = header_.features[f];
        vector<double> cuts;
        bool gaps = false;
        for (size_t i = 0; i < present_.size(); ++i) {
            gaps = gaps || missing_[f][i];
            if (!missing_[f][i] && !feature.lists_splits()) cuts.push_back(numbers_[f][i]);
        }
        if (feature.lists_splits()) {
            for (const string& text : feature.rest) cuts.push_back(number(text));
            need(std::is_sorted(cuts.begin(), cuts.end()), "the splits of a column are out of order");
        } else {
            std::sort(cuts.begin(), cuts.end());
            cuts.erase(std::unique(cuts.begin(), cuts.end()), cuts.end());
        }
        const int most = static_cast<int>(cuts.size());
        const auto add = [&](int end) {  // the rank of missing values
            Ranks& ranks = columns.emplace_back();
            for (size_t i = 0; i < present_.size(); ++i)
                ranks.push_back(
                    missing_[f][i]
                        ? end
                        : static_cast<int>(std::lower_bound(cuts.begin(), cuts.end(), numbers_[f][i]) - cuts.begin()));
            make_dense(ranks);
        };
        if (feature.lists_splits()) return add(feature.kind == "last" ? most : 0);
        add(-1);
        if (gaps) add(most + 1);
    }

    const Header& header_;
    const Cells& cells_;
    const vector<size_t>& present_;
    vector<vector<double>> numbers_;
    vector<vector<bool>> missing_;
};

// Columns that have a split, without those that split as an earlier one does: equal, mirrored, or two values that one
// split of a column of few values makes.
vector<Ranks> without_repeats(const vector<Ranks>& columns, bool keep_repeats) {
    constexpr int kFewRanks = 32;
    vector<Ranks> kept;
    std::set<Ranks> known;
    for (const Ranks& ranks : columns) {
        const int top = *std::max_element(ranks.begin(), ranks.end());
        Ranks other = ranks;
        for (int& rank : other) rank = top - rank;
        if (top == 0 || (!keep_repeats && (known.count(ranks) || known.count(other)))) continue;
        kept.push_back(ranks);
        if (keep_repeats) continue;
        known.insert(ranks);
        known.insert(other);
        for (int k = 0; top > 1 && top < kFewRanks && k < top; ++k) {
            for (size_t i = 0; i < ranks.size(); ++i) other[i] = ranks[i] > k;
            known.insert(other);
        }
    }
    return kept;
}

}  // namespace

Table::Table(const Header& header, const Cells& cells) {
    const vector<Cell>& labels = column_of(cells, header.target);
    std::set<string> used, others = {header.target};
    if (!header.weight.empty()) others.insert(header.weight);
    for (const Feature& feature : header.features)
        if (feature.kind != "sum") used.insert(feature.name);
    const size_t n_others = cells.size() - others.size();
    if (used.size() < n_others)
        columns_used = " over " + std::to_string(used.size()) + " of " + std::to_string(n_others) + " columns";
    std::set<std::pair<double, string>> classes_seen;  // as a number, or as text
    for (const auto& [label, times] : header.classes) {
        double value = 0;
        const bool is_new = is_number(label, value) ? classes_seen.insert({value, ""}).second
                                                    : classes_seen.insert({0, " " + label}).second;
        need(is_new, "two classes of the certificate are the same");
    }
    vector<size_t> present;
    vector<i64> weight(labels.size(), 1), weights_present;
    if (!header.weight.empty()) {
        const vector<Cell>& given = column_of(cells, header.weight);
        for (size_t i = 0; i < labels.size(); ++i) {
            need(!given[i].missing, "a weight is missing");
            weight[i] = scaled_decimal(given[i].text, header.above, header.below);
        }
    }
    Ranks codes;
    std::map<string, int> known;
    for (size_t i = 0; i < labels.size(); ++i) {
        if (weight[i] == 0 || labels[i].missing) continue;
        present.push_back(i);
        weights_present.push_back(weight[i]);
        const auto found = known.find(labels[i].text);
        codes.push_back(found != known.end() ? found->second
                                             : known[labels[i].text] = class_of(header, labels[i].text));
    }
    need(!present.empty(), "the table has no rows");
    const Ordering ordering(header, cells, present);
    vector<Ranks> columns = ordering.columns;
    for (Ranks& ranks : columns) make_dense(ranks);  // a category that no row has, or all
    columns = without_repeats(columns, header.candidates);
    merge(header, columns, codes, weights_present);
    check_digest(header);
}

void Table::merge(const Header& header, const vector<Ranks>& columns, const Ranks& labels, const vector<i64>& of_rows) {
    const size_t n = labels.size(), n_columns = columns.size(), width = n_columns + 1;
    vector<int> rows(n * width);
    for (size_t i = 0; i < n; ++i) {
        for (size_t c = 0; c < n_columns; ++c) rows[i * width + c] = columns[c][i];
        rows[i * width + n_columns] = labels[i];
    }
    const auto row = [&](size_t i) { return rows.begin() + static_cast<std::ptrdiff_t>(i * width); };
    vector<size_t> order(n);
    for (size_t i = 0; i < n; ++i) order[i] = i;
    const auto end = static_cast<std::ptrdiff_t>(width);
    std::sort(order.begin(), order.end(), [&](size_t a, size_t b) {
        return std::lexicographical_compare(row(a), row(a) + end, row(b), row(b) + end);
    });
    ranks.resize(n_columns);
    tops.assign(n_columns, 0);
    n_classes = static_cast<i64>(header.classes.size());
    for (size_t k = 0; k < n; ++k) {
        const size_t i = order[k];
        if (k == 0 || !std::equal(row(i), row(i) + end, row(order[k - 1]))) {
            for (size_t c = 0; c < n_columns; ++c) {
                ranks[c].push_back(columns[c][i]);
                tops[c] = std::max(tops[c], columns[c][i]);
            }
            classes.push_back(labels[i]);
            weights.push_back(0);
            counts.push_back(0);
        }
        const i64 times = header.classes[static_cast<size_t>(labels[i])].second;
        need(times < kMostWeight / of_rows[i], "the weights are too large");
        weights.back() += of_rows[i] * times;
        total += of_rows[i] * times;
        need(total < kMostWeight && total < kMostCost / header.scale, "the weights are too large");
        ++counts.back();
        ++n_rows;
    }
}

void Table::check_digest(const Header& header) const {
    constexpr std::uint64_t kStep = 0x9E3779B97F4A7C15;
    std::uint64_t sum = 0;
    for (size_t row = 0; row < classes.size(); ++row) {
        std::uint64_t key = 0, power = 1;
        const auto add = [&](i64 value) {
            key += (static_cast<std::uint64_t>(value) + 1) * power;
            power *= kStep;
        };
        for (const Ranks& column : ranks) add(column[row]);
        add(classes[row]);
        add(weights[row]);
        add(counts[row]);
        sum += key * (key >> 32);
    }
    need(header.rows == n_rows && header.sum == std::to_string(sum), "the certificate is about another table");
}

}  // namespace ptcheck
