// The ordered columns of a table, and its merged rows; see table.hpp.
#include "table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <unordered_map>

namespace ptcheck {

namespace {

using Columns = std::map<ColumnName, Ranks>;

// A number of the table; missing ones come before or after all others.
struct Value {
    int end;
    double number;
    bool operator<(const Value& other) const { return end != other.end ? end < other.end : number < other.number; }
};

const vector<Cell>& column_of(const Cells& cells, const string& name) {
    const auto found = cells.find(name);
    need(found != cells.end(), "the table has no column '" + name + "'");
    return found->second;
}

int class_of(const Header& header, const string& label) {
    double value = 0, other = 0;
    for (size_t c = 0; c < header.classes.size(); ++c)
        if (header.classes[c].first == label) return static_cast<int>(c);
    int found = -1;
    if (is_number(label, value))
        for (size_t c = 0; c < header.classes.size(); ++c)
            if (is_number(header.classes[c].first, other) && other == value) found = static_cast<int>(c);
    need(found >= 0, "the label '" + label.substr(0, 40) + "' is not in the certificate");
    return found;
}

// Dense ranks; or, where only some splits count, how many of their thresholds are below the value.
Ranks ranked(const vector<double>& values, const vector<bool>& missing, int end, const vector<double>* thresholds) {
    vector<Value> all, distinct;
    for (size_t i = 0; i < values.size(); ++i) all.push_back(missing[i] ? Value{end, 0} : Value{0, values[i]});
    if (thresholds) {
        for (double cut : *thresholds) distinct.push_back({0, cut});
    } else {
        distinct = all;
        std::sort(distinct.begin(), distinct.end());
        const auto same = [](const Value& a, const Value& b) { return !(a < b); };
        distinct.erase(std::unique(distinct.begin(), distinct.end(), same), distinct.end());
    }
    Ranks ranks;
    for (const Value& value : all)
        ranks.push_back(static_cast<int>(std::lower_bound(distinct.begin(), distinct.end(), value) - distinct.begin()));
    if (!thresholds) return ranks;
    Ranks present = ranks;
    std::sort(present.begin(), present.end());
    present.erase(std::unique(present.begin(), present.end()), present.end());
    for (int& rank : ranks)
        rank = static_cast<int>(std::lower_bound(present.begin(), present.end(), rank) - present.begin());
    return ranks;
}

// The ordered columns of all features on the rows that are present.
class Ordering {
  public:
    Ordering(const Header& header, const Cells& cells, const vector<size_t>& present)
        : header_(header), cells_(cells), present_(present), numbers_(header.features.size()),
          missing_(header.features.size()) {
        for (size_t f = 0; f < header.features.size(); ++f) {
            const string& kind = header.features[f].kind;
            need(kind == "number" || kind == "category" || kind == "sum", "a kind of feature is not known");
            if (kind == "category") {
                order_category(f);
                continue;
            }
            kind == "sum" ? add_up(f) : read_numbers(f);
            order_numbers(f);
        }
    }
    Columns columns;

  private:
    void order_category(size_t f) {
        const vector<Cell>& cells = column_of(cells_, header_.features[f].name);
        std::set<string> values;
        bool gaps = false;
        for (size_t i : present_) {
            gaps = gaps || cells[i].missing;
            if (!cells[i].missing) values.insert(cells[i].text);
        }
        const auto add = [&](const ColumnName& name, const auto& has) {
            if (header_.candidates && !header_.thresholds.count(name)) return;
            Ranks& ranks = columns[name];
            for (size_t i : present_) ranks.push_back(has(cells[i]) ? 0 : 1);
        };
        for (const string& value : values)
            add({std::to_string(f), "is", value},
                [&](const Cell& cell) { return !cell.missing && cell.text == value; });
        if (gaps) add({std::to_string(f), "empty"}, [](const Cell& cell) { return cell.missing; });
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

    void order_numbers(size_t f) {
        bool gaps = false;
        for (bool gap : missing_[f]) gaps = gaps || gap;
        const auto add = [&](const char* kind, int end) {
            const ColumnName name = {std::to_string(f), kind};
            const auto cuts = header_.thresholds.find(name);
            if (header_.candidates && cuts == header_.thresholds.end()) return;
            columns[name] = ranked(numbers_[f], missing_[f], end, header_.candidates ? &cuts->second : nullptr);
        };
        if (gaps) {
            add("first", -1);
            add("last", 1);
        } else {
            add("number", 0);
        }
    }

    const Header& header_;
    const Cells& cells_;
    const vector<size_t>& present_;
    vector<vector<double>> numbers_;
    vector<vector<bool>> missing_;
};

// A column that is left out must have no split that its witness has not.
void check_left_out(const Columns& columns, const Ranks& ranks, const Header& header, i64 witness) {
    if (*std::min_element(ranks.begin(), ranks.end()) == *std::max_element(ranks.begin(), ranks.end())) return;
    need(witness >= 0 && witness < static_cast<i64>(header.listed.size()) &&
             columns.count(header.listed[static_cast<size_t>(witness)]),
         "a column is left out without a reason");
    const Ranks& other = columns.at(header.listed[static_cast<size_t>(witness)]);
    bool monotone[2] = {true, true};
    for (const int sign : {1, -1}) {
        vector<std::pair<int, int>> pairs;
        for (size_t i = 0; i < ranks.size(); ++i) pairs.emplace_back(other[i], sign * ranks[i]);
        std::sort(pairs.begin(), pairs.end());
        for (size_t i = 1; i < pairs.size(); ++i)
            if (pairs[i].second < pairs[i - 1].second) monotone[sign > 0] = false;
    }
    need(monotone[0] || monotone[1], "a column that is left out has splits of its own");
}

void check_columns(const Header& header, const Columns& columns) {
    std::set<ColumnName> named(header.listed.begin(), header.listed.end());
    need(named.size() == header.listed.size(), "a column is listed twice");
    for (const auto& [name, witness] : header.left_out) {
        need(named.insert(name).second, "a column is listed twice");
        need(columns.count(name) > 0, "the certificate has a column of its own");
        check_left_out(columns, columns.at(name), header, witness);
    }
    need(named.size() == columns.size(), "the columns of the certificate are not those of the table");
    for (const auto& [name, ranks] : columns) need(named.count(name) > 0, "a column is missing in the certificate");
}

}  // namespace

Table::Table(const Header& header, const Cells& cells) {
    const vector<Cell>& labels = column_of(cells, header.target);
    vector<size_t> present;
    vector<i64> weight(labels.size(), 1), weights_present;
    if (!header.weight.empty()) {
        const i64 above = whole(header.weight[1], 1), below = whole(header.weight[2], 1);
        const vector<Cell>& given = column_of(cells, header.weight[0]);
        for (size_t i = 0; i < labels.size(); ++i) {
            need(!given[i].missing, "a weight is missing");
            weight[i] = scaled_decimal(given[i].text, above, below);
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
    check_columns(header, ordering.columns);
    vector<Ranks> columns;
    for (const ColumnName& name : header.listed) columns.push_back(ordering.columns.at(name));
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
    Sha256 digest;
    string bytes;
    const auto add = [&](i64 value) {
        for (int i = 0; i < 8; ++i) bytes += static_cast<char>(static_cast<std::uint64_t>(value) >> (8 * i));
    };
    const auto flush = [&] {
        digest.add(bytes.data(), bytes.size());
        bytes.clear();
    };
    add(static_cast<i64>(classes.size()));
    add(static_cast<i64>(ranks.size()));
    add(n_classes);
    for (size_t row = 0; row < classes.size(); ++row) {
        for (const Ranks& column : ranks) add(column[row]);
        add(classes[row]);
        add(weights[row]);
        add(counts[row]);
        flush();
    }
    need(digest.hex() == header.table, "the certificate is about another table");
}

}  // namespace ptcheck
