// ptcheck: checks certificates of optimal decision trees, for long proofs. Written from docs/certificate.md alone; it
// shares no line with the solver, and none with the checker in Python.
//
//     g++ -O3 -std=c++17 -pthread -o ptcheck ptcheck.cpp
//     ptcheck proof.ptc table.csv [--jobs N] [--part I/N]
//
// It says "checked: ..." with exit status 0, or "not checked: ..." with exit status 1.
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// The loops over lanes are compiled twice and chosen at run time, where the compiler can do that.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__linux__)
#define FAST __attribute__((target_clones("avx2", "default")))
#else
#define FAST
#endif

namespace {

using i64 = std::int64_t;
using u8 = std::uint8_t;
using std::size_t;
using std::string;
using std::vector;

constexpr i64 kMostCost = i64{1} << 60, kMostWeight = i64{1} << 50, kMostDepth = 64, kMostClaims = 20'000'000;
constexpr i64 kFewThresholds = 12, kMostPairs = 1500;

struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

void need(bool holds, const string& why) {
    if (!holds) throw Refused(why);
}

// ------------------------------------------------------------------------------------------------ SHA-256 (FIPS 180-4)

class Sha256 {
  public:
    void add(const void* data, size_t size) {
        const u8* at = static_cast<const u8*>(data);
        total_ += size;
        while (size--) {
            block_[fill_++] = *at++;
            if (fill_ == 64) mix();
        }
    }
    string hex() {
        const std::uint64_t bits = total_ * 8;
        const u8 one = 0x80, zero = 0;
        add(&one, 1);
        while (fill_ != 56) add(&zero, 1);
        for (int i = 7; i >= 0; --i) block_[fill_++] = static_cast<u8>(bits >> (8 * i));
        mix();
        string text;
        for (std::uint32_t word : state_) {
            char digits[9];
            std::snprintf(digits, sizeof digits, "%08x", word);
            text += digits;
        }
        return text;
    }

  private:
    static std::uint32_t turn(std::uint32_t x, int by) { return x >> by | x << (32 - by); }
    void mix() {
        // The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
        static const std::uint32_t k[64] = {
            0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
            0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
            0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
            0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
            0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
            0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
            0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
            0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};
        std::uint32_t w[64];
        for (int i = 0; i < 16; ++i)
            w[i] = std::uint32_t{block_[4 * i]} << 24 | std::uint32_t{block_[4 * i + 1]} << 16 |
                   std::uint32_t{block_[4 * i + 2]} << 8 | block_[4 * i + 3];
        for (int i = 16; i < 64; ++i)
            w[i] = w[i - 16] + (turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
                   (turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10);
        std::uint32_t a = state_[0], b = state_[1], c = state_[2], d = state_[3], e = state_[4], f = state_[5],
                      g = state_[6], h = state_[7];
        for (int i = 0; i < 64; ++i) {
            const std::uint32_t x = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i];
            const std::uint32_t y = (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
            h = g, g = f, f = e, e = d + x, d = c, c = b, b = a, a = x + y;
        }
        const std::uint32_t after[8] = {a, b, c, d, e, f, g, h};
        for (int i = 0; i < 8; ++i) state_[i] += after[i];
        fill_ = 0;
    }
    std::uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    u8 block_[64];
    size_t fill_ = 0;
    std::uint64_t total_ = 0;
};

// ------------------------------------------------------------------------------------------------ text

string read_file(const string& path) {
    std::ifstream file(path, std::ios::binary);
    need(file.good(), "there is no file '" + path + "'");
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

i64 whole(const string& text, i64 least = 0, i64 most = kMostCost - 1) {
    const size_t from = !text.empty() && text[0] == '-' ? 1 : 0;
    bool good = text.size() > from && text.size() - from <= 19 &&
                text.find_first_not_of("0123456789", from) == string::npos;
    i64 value = 0;
    if (good) {
        errno = 0;
        value = std::strtoll(text.c_str(), nullptr, 10);
        good = errno == 0 && value >= least && value <= most;
    }
    need(good, "'" + text.substr(0, 40) + "' in the header is no whole number that may stand there");
    return value;
}

string stripped(const string& text) {
    const char* const spaces = " \t\r\n\f\v";
    const size_t from = text.find_first_not_of(spaces);
    return from == string::npos ? "" : text.substr(from, text.find_last_not_of(spaces) - from + 1);
}

bool is_number(const string& text, double& value) {
    const string plain = stripped(text);
    size_t at = !plain.empty() && (plain[0] == '+' || plain[0] == '-') ? 1 : 0;
    string word = plain.substr(at);
    for (char& c : word) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (word != "inf" && word != "infinity") {
        const size_t begin = at;
        size_t digits = 0;
        while (at < plain.size() && std::isdigit(static_cast<unsigned char>(plain[at]))) ++at, ++digits;
        if (at < plain.size() && plain[at] == '.') {
            ++at;
            while (at < plain.size() && std::isdigit(static_cast<unsigned char>(plain[at]))) ++at, ++digits;
        }
        if (digits == 0 || at == begin) return false;
        if (at < plain.size() && (plain[at] == 'e' || plain[at] == 'E')) {
            ++at;
            if (at < plain.size() && (plain[at] == '+' || plain[at] == '-')) ++at;
            const size_t exponent = at;
            while (at < plain.size() && std::isdigit(static_cast<unsigned char>(plain[at]))) ++at;
            if (at == exponent) return false;
        }
        if (at != plain.size()) return false;
    }
    value = std::strtod(plain.c_str(), nullptr);
    return true;
}

double number(const string& text) {
    double value = 0;
    need(is_number(text, value), "'" + text.substr(0, 40) + "' is no number");
    return value;
}

// A decimal number times numerator / denominator, if that is a whole number from 0 to kMostWeight.
i64 scaled_decimal(const string& cell, i64 numerator, i64 denominator) {
    number(cell);
    string text = stripped(cell), digits;
    i64 power = 0;
    size_t at = 0;
    bool after_point = false;
    need(text.find_first_of("nN") == string::npos, "a weight is no finite number");
    const bool negative = text[0] == '-';
    if (text[0] == '+' || text[0] == '-') at = 1;
    for (; at < text.size() && text[at] != 'e' && text[at] != 'E'; ++at) {
        if (text[at] == '.')
            after_point = true;
        else {
            digits += text[at];
            if (after_point) --power;
        }
    }
    if (at < text.size()) {
        const long exponent = std::strtol(text.c_str() + at + 1, nullptr, 10);
        need(std::labs(exponent) < 1000, "a weight is not whole");
        power += exponent;
    }
    while (!digits.empty() && digits.back() == '0') digits.pop_back(), ++power;
    digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
    if (digits.empty()) return 0;
    need(!negative && digits.size() <= 18, "a weight is not whole");
    __int128 above = std::stoll(digits), below = denominator;
    const auto reduce = [&] {
        __int128 a = above, b = below;
        while (b) std::swap(a %= b, b);
        above /= a, below /= a;
    };
    reduce();
    above *= numerator;
    reduce();
    for (; power > 0; --power) {
        need(above < (__int128{1} << 100), "a weight is too large");
        above *= 10;
        reduce();
    }
    for (; power < 0; ++power) {
        need(below < (__int128{1} << 100), "a weight is not whole");
        below *= 10;
        reduce();
    }
    need(below == 1 && above < kMostWeight, "a weight is not whole, or too large");
    return static_cast<i64>(above);
}

// ------------------------------------------------------------------------------------------------ the header

struct Feature {
    string name, kind;
};
using ColumnName = vector<string>;  // number of the feature, kind, value

struct Header {
    std::map<string, vector<vector<string>>> lines;
    string body, target, table;
    vector<string> weight;
    vector<std::pair<string, i64>> classes;
    vector<Feature> features;
    vector<ColumnName> listed;
    std::map<ColumnName, i64> left_out;
    i64 scale, penalty, depth, splits, min_leaf, bound;
    vector<string> tree;

    const vector<vector<string>>& all(const string& key, size_t least) {
        const vector<vector<string>>& found = lines[key];
        for (const vector<string>& fields : found)
            need(fields.size() >= least, "a line '" + key + "' of the header is too short");
        return found;
    }
    const vector<string>& one(const string& key, size_t least) {
        need(all(key, least).size() == 1, "the header needs one line '" + key + "'");
        return lines[key][0];
    }

    explicit Header(const string& data) {
        const size_t end = data.find("\n\n");
        body = end == string::npos ? "" : data.substr(end + 2);
        std::istringstream text(data.substr(0, end));
        string line;
        std::getline(text, line);
        need(line.rfind("provetree certificate ", 0) == 0, "this is no certificate");
        need(line == "provetree certificate 1", "the version of the certificate is not known");
        while (std::getline(text, line)) read_line(line);
        need(whole(one("body", 2)[0]) == static_cast<i64>(body.size()), "the certificate is cut off or damaged");
        Sha256 digest;
        digest.add(body.data(), body.size());
        need(digest.hex() == one("body", 2)[1], "the certificate is cut off or damaged");
        target = one("target", 1)[0];
        table = one("table", 1)[0];
        if (lines.count("weight")) weight = one("weight", 3);
        for (const auto& f : all("class", 2)) classes.emplace_back(f[0], whole(f[1], 1));
        for (const auto& f : all("feature", 2)) features.push_back({f[0], f[1]});
        for (const auto& f : all("column", 2)) {
            listed.push_back(f);
            listed.back()[0] = std::to_string(whole(f[0]));
        }
        for (const auto& f : all("same", 3)) {
            ColumnName name(f.begin(), f.end() - 1);
            name[0] = std::to_string(whole(f[0]));
            left_out[name] = whole(f.back(), -1);
        }
        scale = whole(one("objective", 2)[0], 1);
        penalty = whole(one("objective", 2)[1]);
        depth = whole(one("limits", 3)[0], 0, kMostDepth);
        splits = whole(one("limits", 3)[1]);
        min_leaf = whole(one("limits", 3)[2]);
        bound = whole(one("bound", 1)[0], -kMostCost);
        if (lines.count("tree")) tree = one("tree", 2);
    }

  private:
    void read_line(const string& line) {
        vector<string> fields(1);
        for (size_t i = 0; i < line.size(); ++i) {
            if (line[i] == '\t')
                fields.emplace_back();
            else if (line[i] == '\\' && i + 1 < line.size() && !(fields.size() == 1)) {
                const char c = line[++i];
                fields.back() += c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
            } else
                fields.back() += line[i];
        }
        lines[fields[0]].emplace_back(fields.begin() + 1, fields.end());
    }
};

// ------------------------------------------------------------------------------------------------ the table

struct Cell {
    string text;
    bool missing = false;
};
using Cells = std::map<string, vector<Cell>>;

Cells read_csv(const string& path) {
    string text = read_file(path);
    need(text.rfind("\x1f\x8b", 0) != 0, "this checker reads no gzip files: unpack the table first");
    if (text.rfind("\xef\xbb\xbf", 0) == 0) text.erase(0, 3);
    size_t begin = text.find_first_not_of("\r\n");
    need(begin != string::npos, "the table is empty");
    std::map<char, size_t> seen;
    bool quoted = false;
    for (size_t i = begin; i < text.size() && text[i] != '\n'; ++i) {
        if (text[i] == '"') quoted = !quoted;
        if (!quoted) ++seen[text[i]];
    }
    char separator = ',';
    for (char c : {';', '\t', '|'})
        if (seen[c] > seen[separator]) separator = c;
    vector<vector<string>> lines;
    vector<string> line(1);
    bool any = false, inside = false;
    const auto end_line = [&] {
        if (any) lines.push_back(line);
        line.assign(1, "");
        any = false;
    };
    for (size_t i = 0; i < text.size(); ++i) {
        const char c = text[i];
        if (inside) {
            if (c == '"' && i + 1 < text.size() && text[i + 1] == '"')
                line.back() += text[++i];
            else if (c == '"')
                inside = false;
            else
                line.back() += c;
        } else if (c == '"' && line.back().empty()) {
            inside = any = true;
        } else if (c == separator) {
            line.emplace_back();
            any = true;
        } else if (c == '\n' || c == '\r') {
            end_line();
        } else {
            line.back() += c;
            any = true;
        }
    }
    end_line();
    static const std::set<string> words = {"", "NA", "N/A", "NaN", "nan", "NULL", "null", "?"};
    Cells cells;
    vector<vector<Cell>*> columns;
    std::map<string, int> times;
    for (size_t i = 0; i < lines[0].size(); ++i) {
        string name = stripped(lines[0][i]);
        if (name.empty()) name = "column " + std::to_string(i + 1);
        if (const int again = ++times[name]; again > 1) name += " (column " + std::to_string(again) + " of this name)";
        columns.push_back(&cells[name]);
    }
    for (size_t r = 1; r < lines.size(); ++r) {
        need(lines[r].size() <= columns.size(), "a line of the table has too many cells");
        for (size_t i = 0; i < columns.size(); ++i) {
            const string cell = i < lines[r].size() ? lines[r][i] : "";
            columns[i]->push_back({cell, words.count(cell) > 0});
        }
    }
    return cells;
}

using Ranks = vector<int>;

struct Table {
    vector<Ranks> ranks;  // by listed column
    vector<int> classes, tops;
    vector<i64> weights, counts;
    i64 n_classes = 0, n_rows = 0, total = 0;

    Table(const Header& header, const Cells& cells) {
        const auto column = [&](const string& name) -> const vector<Cell>& {
            const auto found = cells.find(name);
            need(found != cells.end(), "the table has no column '" + name + "'");
            return found->second;
        };
        const vector<Cell>& labels = column(header.target);
        vector<size_t> present;
        vector<i64> weight(labels.size(), 1);
        if (!header.weight.empty()) {
            const i64 above = whole(header.weight[1], 1), below = whole(header.weight[2], 1);
            const vector<Cell>& given = column(header.weight[0]);
            for (size_t i = 0; i < labels.size(); ++i) {
                need(!given[i].missing, "a weight is missing");
                weight[i] = scaled_decimal(given[i].text, above, below);
            }
        }
        for (size_t i = 0; i < labels.size(); ++i)
            if (weight[i] > 0 && !labels[i].missing) present.push_back(i);
        need(!present.empty(), "the table has no rows");
        std::map<ColumnName, Ranks> columns;
        for (size_t f = 0; f < header.features.size(); ++f)
            order_feature(header.features[f], f, column(header.features[f].name), present, columns);
        check_columns(header, columns);
        vector<Ranks> rows(present.size());
        for (size_t i = 0; i < present.size(); ++i) {
            for (const ColumnName& name : header.listed) rows[i].push_back(columns[name][i]);
            rows[i].push_back(class_of(header, labels[present[i]].text));
        }
        merge(header, rows, present, weight);
        check_digest(header);
    }

  private:
    static int class_of(const Header& header, const string& label) {
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

    template <class Value>
    static Ranks ranked(const vector<Value>& values) {
        vector<Value> distinct(values);
        std::sort(distinct.begin(), distinct.end());
        distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
        Ranks ranks;
        for (const Value& value : values)
            ranks.push_back(static_cast<int>(std::lower_bound(distinct.begin(), distinct.end(), value) - distinct.begin()));
        return ranks;
    }

    static void order_feature(const Feature& feature, size_t f, const vector<Cell>& cells, const vector<size_t>& present,
                              std::map<ColumnName, Ranks>& columns) {
        const string number_of = std::to_string(f);
        bool gaps = false;
        for (size_t i : present) gaps = gaps || cells[i].missing;
        if (feature.kind == "category") {
            std::set<string> values;
            for (size_t i : present)
                if (!cells[i].missing) values.insert(cells[i].text);
            const auto add = [&](const ColumnName& name, const auto& has) {
                Ranks& ranks = columns[name];
                for (size_t i : present) ranks.push_back(has(cells[i]) ? 0 : 1);
            };
            for (const string& value : values)
                add({number_of, "is", value}, [&](const Cell& cell) { return !cell.missing && cell.text == value; });
            if (gaps) add({number_of, "empty"}, [](const Cell& cell) { return cell.missing; });
            return;
        }
        need(feature.kind == "number", "a kind of feature is not known");
        vector<double> values;
        for (size_t i : present) values.push_back(cells[i].missing ? 0.0 : number(cells[i].text) + 0.0);
        if (!gaps) {
            columns[{number_of, "number"}] = ranked(values);
            return;
        }
        for (const int end : {-1, 1}) {  // a missing value comes before all numbers, or after them
            vector<std::pair<int, double>> with_gaps;
            for (size_t k = 0; k < present.size(); ++k)
                with_gaps.emplace_back(cells[present[k]].missing ? end : 0, values[k]);
            columns[{number_of, end < 0 ? "first" : "last"}] = ranked(with_gaps);
        }
    }

    static void check_columns(const Header& header, const std::map<ColumnName, Ranks>& columns) {
        std::set<ColumnName> named(header.listed.begin(), header.listed.end());
        need(named.size() == header.listed.size(), "a column is listed twice");
        for (const auto& [name, witness] : header.left_out) {
            need(named.insert(name).second, "a column is listed twice");
            need(columns.count(name), "the certificate has a column of its own");
            const Ranks& ranks = columns.at(name);
            if (*std::min_element(ranks.begin(), ranks.end()) == *std::max_element(ranks.begin(), ranks.end())) continue;
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
        need(named.size() == columns.size(), "the columns of the certificate are not those of the table");
        for (const auto& [name, ranks] : columns) need(named.count(name), "a column is missing in the certificate");
    }

    void merge(const Header& header, const vector<Ranks>& rows, const vector<size_t>& present,
               const vector<i64>& weight) {
        vector<size_t> order(rows.size());
        for (size_t i = 0; i < order.size(); ++i) order[i] = i;
        std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return rows[a] < rows[b]; });
        const size_t n_columns = header.listed.size();
        ranks.resize(n_columns);
        tops.assign(n_columns, 0);
        n_classes = static_cast<i64>(header.classes.size());
        for (size_t k = 0; k < order.size(); ++k) {
            const Ranks& row = rows[order[k]];
            if (k == 0 || row != rows[order[k - 1]]) {
                for (size_t c = 0; c < n_columns; ++c) {
                    ranks[c].push_back(row[c]);
                    tops[c] = std::max(tops[c], row[c]);
                }
                classes.push_back(row[n_columns]);
                weights.push_back(0);
                counts.push_back(0);
            }
            const i64 times = header.classes[static_cast<size_t>(row[n_columns])].second;
            need(times < kMostWeight / weight[present[order[k]]], "the weights are too large");
            weights.back() += weight[present[order[k]]] * times;
            total += weight[present[order[k]]] * times;
            need(total < kMostWeight && total < kMostCost / header.scale, "the weights are too large");
            ++counts.back();
            ++n_rows;
        }
    }

    void check_digest(const Header& header) const {
        Sha256 digest;
        const auto add = [&](i64 value) {
            u8 bytes[8];
            for (int i = 0; i < 8; ++i) bytes[i] = static_cast<u8>(static_cast<std::uint64_t>(value) >> (8 * i));
            digest.add(bytes, 8);
        };
        add(static_cast<i64>(classes.size()));
        add(static_cast<i64>(ranks.size()));
        add(n_classes);
        for (size_t row = 0; row < classes.size(); ++row) {
            for (const Ranks& column : ranks) add(column[row]);
            add(classes[row]);
            add(weights[row]);
            add(counts[row]);
        }
        need(digest.hex() == header.table, "the certificate is about another table");
    }
};

// ------------------------------------------------------------------------------------------------ claims

struct Shape {
    i64 depth, splits;
    bool reaches(const Shape& other) const { return depth >= other.depth && splits >= other.splits; }
};

i64 full(i64 depth) { return depth >= 60 ? kMostCost : (i64{1} << depth) - 1; }

Shape smallest(i64 depth, i64 splits) {
    depth = std::min(depth, splits);
    return {depth, std::min(splits, full(depth))};
}

// Rows with low <= rank <= high in a column.
struct Condition {
    int column, low, high;
    bool operator==(const Condition& other) const {
        return column == other.column && low == other.low && high == other.high;
    }
};
using Where = vector<Condition>;  // by column; conditions that all rows meet are left out

struct Claim {
    size_t where_begin, where_end;  // among all conditions
    Shape shape;
    i64 relaxed, lower;
    size_t cover;  // where it begins in the body; 0: none
};

// Reads whole numbers one after the other.
struct Reader {
    const string& data;
    size_t at = 0;

    i64 next(i64 most = kMostCost - 1) {
        std::uint64_t value = 0;
        for (int shift = 0; shift < 63; shift += 7) {
            need(at < data.size(), "a number is cut off");
            const u8 byte = static_cast<u8>(data[at++]);
            value |= std::uint64_t{byte & 127u} << shift;
            if (byte < 128) {
                need(value <= static_cast<std::uint64_t>(most), "a number is too large where it stands");
                return static_cast<i64>(value);
            }
        }
        throw Refused("a number is too long");
    }
};

constexpr i64 kLanes = 32;  // splits that are worked out side by side

// One column within the rows of a claim: rows in its order, and where its values change.
struct Column {
    int id;
    vector<int> order;      // rows of the node
    vector<int> ends;       // rows before each change of value
    vector<int> values;     // the distinct ranks
    vector<i64> by_class;   // weights of classes left of position p, p = 0 .. values
    vector<i64> before;     // their sums
    vector<char> fits;      // whether both sides have as many rows as a leaf needs
    size_t positions() const { return values.size() + 1; }
};

// Running sums of lanes along a column: extremes of what is left of each split, for the lanes and for the rest.
template <class T>
FAST void sweep(const vector<int>& order, const vector<int>& ends, const vector<T>& lanes, const vector<T>& steps, T* most,
                T* least, T* most_rest, T* least_rest) {
    T sum[kLanes] = {}, all = 0;
    size_t i = 0;
    for (const int end : ends) {
        for (; i < static_cast<size_t>(end); ++i) {
            const size_t row = static_cast<size_t>(order[i]);
            const T* lane = lanes.data() + row * kLanes;
            for (int l = 0; l < kLanes; ++l) sum[l] = static_cast<T>(sum[l] + lane[l]);
            all = static_cast<T>(all + steps[row]);
        }
        for (int l = 0; l < kLanes; ++l) {
            const T rest = static_cast<T>(all - sum[l]);
            most[l] = std::max(most[l], sum[l]);
            least[l] = std::min(least[l], sum[l]);
            most_rest[l] = std::max(most_rest[l], rest);
            least_rest[l] = std::min(least_rest[l], rest);
        }
    }
}

// For each split of a column into the lanes' rows and the rest: the heaviest classes before and after it. `best` and
// `best_rest` become the largest sums of the two.
FAST void sweep_classes(const vector<int>& order, const vector<int>& ends, const vector<int>& lanes, const vector<int>& weights,
                        const vector<int>& classes, vector<int>& sums, vector<int>& before, int* best, int* best_rest) {
    int top[2 * kLanes] = {};
    std::fill(sums.begin(), sums.end(), 0);
    size_t i = 0, at = 0;
    const auto add = [&](size_t row) __attribute__((always_inline)) {
        int* sum = sums.data() + static_cast<size_t>(classes[row]) * 2 * kLanes;
        const int* lane = lanes.data() + row * kLanes;
        const int weight = weights[row];
        for (int l = 0; l < kLanes; ++l) {
            sum[l] += lane[l];
            sum[kLanes + l] += weight - lane[l];
            top[l] = std::max(top[l], sum[l]);
            top[kLanes + l] = std::max(top[kLanes + l], sum[kLanes + l]);
        }
    };
    for (const int end : ends) {
        for (; i < static_cast<size_t>(end); ++i) add(static_cast<size_t>(order[i]));
        std::copy(top, top + 2 * kLanes, before.data() + at);
        at += 2 * kLanes;
    }
    std::fill(sums.begin(), sums.end(), 0);
    std::fill(top, top + 2 * kLanes, 0);
    i = order.size();
    for (size_t e = ends.size(); e-- > 0;) {
        while (i > static_cast<size_t>(ends[e])) add(static_cast<size_t>(order[--i]));
        at -= 2 * kLanes;
        for (int l = 0; l < kLanes; ++l) {
            best[l] = std::max(best[l], before[at + static_cast<size_t>(l)] + top[l]);
            best_rest[l] = std::max(best_rest[l], before[at + static_cast<size_t>(kLanes + l)] + top[kLanes + l]);
        }
    }
}

// sums[f][g], g >= f: the sum of steps over rows that are in both f and g; `in` has a row of 0 and -1 for each row.
template <class T>
FAST void add_pairs(const vector<T>& in, const vector<T>& steps, size_t width, vector<T>& sums) {
    for (size_t r = 0; r < steps.size(); ++r) {
        const T* mine = in.data() + r * width;
        const T step = steps[r];
        for (size_t f = 0; f < width; ++f) {
            if (!mine[f]) continue;
            T* into = sums.data() + f * width;
            for (size_t g = f; g < width; ++g) into[g] = static_cast<T>(into[g] + (mine[g] & step));
        }
    }
}

// The largest |x| + |d - x| over all x = pair[g], and the same for the rest with diagonal[g] - x.
FAST void best_pairs(const int* pair, const int* diagonal, size_t width, int d, int rest, int& best, int& best_rest) {
    int most = std::abs(d), most_rest = std::abs(rest);
    for (size_t g = 0; g < width; ++g) {
        const int x = pair[g], other = diagonal[g] - x;
        most = std::max(most, std::abs(x) + std::abs(d - x));
        most_rest = std::max(most_rest, std::abs(other) + std::abs(rest - other));
    }
    best = most;
    best_rest = most_rest;
}

class Proof;

// The rows of a claim.
class Node {
  public:
    Node(const Proof& proof, const Where& where);

    i64 n() const { return static_cast<i64>(rows_.size()); }
    i64 leaf() const { return leaf_; }
    const vector<int>& rows() const { return rows_; }
    // Columns that have two values or more; made when they are first wanted.
    const vector<Column>& columns();
    // Checks a claim of depth 0, 1 or 2.
    void work_out(Shape shape, i64 relaxed, i64 lower);

  private:
    // What a side costs as a tree of depth one: without the minimum leaf size, and with it.
    struct Stump {
        i64 plain = kMostCost, fitting = kMostCost;
    };
    struct Try {
        size_t column, position;
        Stump sides[2];
    };
    struct Known {  // by position; -1: not worked out
        vector<i64> leaf[2], least[2], exact[2];
    };
    bool goes_left(const Try& split, int row) const;
    void solve(vector<Try>& tries);
    template <class T>
    void solve_two_classes(Try* first, size_t count);
    void solve_classes(Try* first, size_t count);
    void solve_any(Try& split);
    Stump stump_of(const vector<char>& in);
    bool find_few_thresholds(vector<std::pair<int, int>>& thresholds) const;
    template <class T>
    void work_out_by_pairs(const vector<std::pair<int, int>>& thresholds, Shape shape, i64 relaxed, i64 lower) const;
    void work_out_by_sweeps(Shape shape, i64 relaxed, i64 lower);
    void find_open(const Column& column, const Known& known, Shape shape, i64 relaxed, i64 lower, size_t number,
                   vector<Try>& tries) const;

    const Proof& proof_;
    vector<int> rows_;
    vector<i64> total_;  // by class
    i64 weight_ = 0, leaf_ = 0, count_ = 0;
    bool has_columns_ = false;
    vector<Column> columns_;
};

// What the sides of every split cost at least (rule 3), by the number of values left.
void between(vector<i64>& left, vector<i64>& right, const vector<i64>& before, i64 scale) {
    const size_t n = left.size();
    for (size_t i = 1; i < n; ++i) {
        const i64 slack = scale * (before[i] - before[i - 1]);
        left[i] = std::max(left[i], left[i - 1]);
        right[i] = std::max(right[i], right[i - 1] - slack);
    }
    for (size_t i = n; i-- > 1;) {
        const i64 slack = scale * (before[i] - before[i - 1]);
        left[i - 1] = std::max(left[i - 1], left[i] - slack);
        right[i - 1] = std::max(right[i - 1], right[i]);
    }
}

// The weight outside the heaviest class, or outside the two heaviest.
i64 outside(const i64* by_class, i64 n_classes, int labels) {
    i64 sum = 0, first = 0, second = 0;
    for (i64 c = 0; c < n_classes; ++c) {
        sum += by_class[c];
        if (by_class[c] > first)
            second = first, first = by_class[c];
        else
            second = std::max(second, by_class[c]);
    }
    return sum - first - (labels == 2 ? second : 0);
}

class Proof {
  public:
    Proof(const Header& of_header, const Table& of_table)
        : header(of_header), table(of_table), scale(of_header.scale), penalty(of_header.penalty),
          min_leaf(of_header.min_leaf), n_classes(of_table.n_classes), weights(of_table.weights) {
        Reader body{header.body};
        sampled = body.next(1) == 1;
        if (sampled)
            for (size_t i = 0; i < weights.size(); ++i) weights[i] = body.next(table.weights[i]);
        for (size_t c = 0; c < table.ranks.size(); ++c) {
            vector<int> order(table.classes.size());
            for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
            const Ranks& ranks = table.ranks[c];
            std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
                return ranks[static_cast<size_t>(a)] < ranks[static_cast<size_t>(b)];
            });
            orders.push_back(std::move(order));
        }
        const i64 n_claims = body.next(kMostClaims);
        for (i64 k = 0; k < n_claims; ++k) read_claim(body, k);
        need(body.at == header.body.size(), "bytes are left over after the last claim");
    }

    void check_tree() const;
    void check_last() const;
    void check_claim(size_t k) const;
    string sentence() const;

    const Header& header;
    const Table& table;
    i64 scale, penalty, min_leaf, n_classes;
    vector<i64> weights;  // of the rows of the proof
    bool sampled = false;
    vector<vector<int>> orders;  // all rows by each column
    vector<Claim> claims;
    vector<Condition> conditions;

    Where where_of(const Claim& claim) const {
        return Where(conditions.begin() + static_cast<std::ptrdiff_t>(claim.where_begin),
                     conditions.begin() + static_cast<std::ptrdiff_t>(claim.where_end));
    }
    bool has(const Where& where, int row) const {
        for (const Condition& one : where) {
            const int rank = table.ranks[static_cast<size_t>(one.column)][static_cast<size_t>(row)];
            if (rank < one.low || rank > one.high) return false;
        }
        return weights[static_cast<size_t>(row)] > 0;
    }

  private:
    struct Point {
        i64 rank, claims[2];
    };
    void read_claim(Reader& body, i64 k);
    void check_cover(size_t k, Node& node, const Where& where, Shape least) const;
    void serve(size_t k, const Shape& shape, const Where& where, const Node& node, int column, i64 rank, bool right,
               i64& relaxed, i64& lower) const;
};

void Proof::read_claim(Reader& body, i64 k) {
    const i64 last = static_cast<i64>(table.ranks.size()) - 1;
    Claim claim;
    claim.where_begin = conditions.size();
    const i64 n_conditions = body.next(last + 1);
    Where where;
    for (i64 i = 0; i < n_conditions; ++i) {
        const int column = static_cast<int>(body.next(last)), top = table.tops[static_cast<size_t>(column)];
        const int low = static_cast<int>(body.next(top)), high = static_cast<int>(body.next(top));
        for (const Condition& one : where) need(one.column != column, "a claim has two conditions on one column");
        where.push_back({column, low, high});
    }
    std::sort(where.begin(), where.end(), [](const Condition& a, const Condition& b) { return a.column < b.column; });
    for (const Condition& one : where)
        if (one.low > 0 || one.high < table.tops[static_cast<size_t>(one.column)]) conditions.push_back(one);
    claim.where_end = conditions.size();
    const i64 depth = body.next(kMostDepth), splits = body.next();
    claim.shape = smallest(depth, splits);
    claim.relaxed = body.next();
    claim.lower = claim.relaxed + body.next(kMostCost - 1 - claim.relaxed);
    claim.cover = 0;
    if (body.next(1) == 1) {
        claim.cover = body.at;
        body.next(kMostDepth);
        body.next();
        body.next(k);
        const i64 groups = body.next();
        for (i64 g = 0; g < groups; ++g) {
            const i64 top = table.tops[static_cast<size_t>(body.next(last))];
            body.next();
            const i64 points = body.next(top + 2);
            for (i64 p = 0; p < points; ++p) {
                body.next(top + 1);
                body.next(k);
                body.next(k);
            }
        }
    }
    claims.push_back(claim);
}

Node::Node(const Proof& proof, const Where& where) : proof_(proof), total_(static_cast<size_t>(proof.n_classes), 0) {
    const int all = static_cast<int>(proof.table.classes.size());
    for (int row = 0; row < all; ++row) {
        if (!proof.has(where, row)) continue;
        rows_.push_back(row);
        const size_t r = static_cast<size_t>(row);
        total_[static_cast<size_t>(proof.table.classes[r])] += proof.weights[r];
        weight_ += proof.weights[r];
        count_ += proof.table.counts[r];
    }
    leaf_ = proof.scale * outside(total_.data(), proof.n_classes, 1);
}

const vector<Column>& Node::columns() {
    if (has_columns_) return columns_;
    has_columns_ = true;
    const Table& table = proof_.table;
    const bool filters = rows_.size() * 12 > table.classes.size();
    vector<int> place(filters ? table.classes.size() : 0, -1);
    for (size_t i = 0; i < rows_.size() && filters; ++i) place[static_cast<size_t>(rows_[i])] = static_cast<int>(i);
    const size_t n_classes = static_cast<size_t>(proof_.n_classes);
    for (size_t c = 0; c < table.ranks.size(); ++c) {
        const Ranks& ranks = table.ranks[c];
        const auto rank = [&](int i) { return ranks[static_cast<size_t>(rows_[static_cast<size_t>(i)])]; };
        bool varies = false;
        for (size_t i = 1; i < rows_.size() && !varies; ++i) varies = rank(static_cast<int>(i)) != rank(0);
        if (!varies) continue;
        Column column;
        column.id = static_cast<int>(c);
        if (filters) {
            for (int row : proof_.orders[c])
                if (place[static_cast<size_t>(row)] >= 0) column.order.push_back(place[static_cast<size_t>(row)]);
        } else {
            for (size_t i = 0; i < rows_.size(); ++i) column.order.push_back(static_cast<int>(i));
            std::stable_sort(column.order.begin(), column.order.end(), [&](int a, int b) { return rank(a) < rank(b); });
        }
        vector<i64> sums(n_classes, 0);
        i64 count = 0;
        const auto end_value = [&](size_t i) {
            if (i < column.order.size()) column.values.push_back(rank(column.order[i]));
            column.by_class.insert(column.by_class.end(), sums.begin(), sums.end());
            i64 weight = 0;
            for (i64 sum : sums) weight += sum;
            column.before.push_back(weight);
            column.fits.push_back(std::min(count, count_ - count) >= proof_.min_leaf);
            if (i > 0 && i < column.order.size()) column.ends.push_back(static_cast<int>(i));
        };
        for (size_t i = 0; i < column.order.size(); ++i) {
            if (i == 0 || rank(column.order[i]) != rank(column.order[i - 1])) end_value(i);
            const size_t row = static_cast<size_t>(rows_[static_cast<size_t>(column.order[i])]);
            sums[static_cast<size_t>(table.classes[row])] += proof_.weights[row];
            count += table.counts[row];
        }
        end_value(column.order.size());
        columns_.push_back(std::move(column));
    }
    return columns_;
}

bool Node::goes_left(const Try& split, int i) const {
    const Column& column = columns_[split.column];
    return proof_.table.ranks[static_cast<size_t>(column.id)][static_cast<size_t>(rows_[static_cast<size_t>(i)])] <=
           column.values[split.position - 1];
}

// Two classes, leaves of any size: only the extremes of (class 1 - class 0) left of a split matter.
template <class T>
void Node::solve_two_classes(Try* first, size_t count) {
    const size_t n = rows_.size();
    vector<T> lanes(n * kLanes, 0), steps(n);
    vector<i64> in[2];  // weights of both classes in each lane
    in[0].assign(kLanes, 0);
    in[1].assign(kLanes, 0);
    for (size_t i = 0; i < n; ++i) {
        const size_t row = static_cast<size_t>(rows_[i]);
        steps[i] = static_cast<T>(proof_.table.classes[row] ? proof_.weights[row] : -proof_.weights[row]);
    }
    for (size_t l = 0; l < count; ++l) {
        const Column& column = columns_[first[l].column];
        const size_t left = static_cast<size_t>(column.ends[first[l].position - 1]);
        for (size_t i = 0; i < left; ++i) {
            const size_t row = static_cast<size_t>(column.order[i]);
            lanes[row * kLanes + l] = steps[row];
        }
        for (size_t c = 0; c < 2; ++c) in[c][l] = column.by_class[first[l].position * 2 + c];
    }
    vector<T> extremes(4 * kLanes, 0);
    T* const at = extremes.data();
    for (const Column& column : columns_)
        sweep<T>(column.order, column.ends, lanes, steps, at, at + kLanes, at + 2 * kLanes, at + 3 * kLanes);
    for (size_t l = 0; l < count; ++l) {
        for (size_t side = 0; side < 2; ++side) {
            const i64 zeros = side ? total_[0] - in[0][l] : in[0][l], ones = side ? total_[1] - in[1][l] : in[1][l];
            const i64 most = at[2 * side * kLanes + l], least = at[(2 * side + 1) * kLanes + l];
            // No split is better than the leaf where the extremes are 0: the sums before the first row.
            const i64 right = std::max(zeros + most, ones - least);
            const i64 cost = std::min(proof_.scale * std::min(zeros, ones),
                                      proof_.scale * (zeros + ones - right) + proof_.penalty);
            first[l].sides[side] = {cost, cost};
        }
    }
}

// Any number of classes, and a minimum leaf size: the heaviest classes before and after each split.
Node::Stump Node::stump_of(const vector<char>& in) {
    const size_t n = rows_.size(), n_classes = static_cast<size_t>(proof_.n_classes);
    vector<i64> total(n_classes, 0), sums;
    i64 weight = 0, count = 0;
    for (size_t i = 0; i < n; ++i) {
        if (!in[i]) continue;
        const size_t row = static_cast<size_t>(rows_[i]);
        total[static_cast<size_t>(proof_.table.classes[row])] += proof_.weights[row];
        weight += proof_.weights[row];
        count += proof_.table.counts[row];
    }
    const i64 leaf = proof_.scale * outside(total.data(), proof_.n_classes, 1);
    Stump best{leaf, leaf};
    vector<i64> heaviest;
    for (const Column& column : columns_) {
        heaviest.assign(column.ends.size(), 0);
        sums.assign(n_classes, 0);
        i64 most = 0;
        size_t i = 0;
        for (size_t e = 0; e < column.ends.size(); ++e) {
            for (; i < static_cast<size_t>(column.ends[e]); ++i) {
                const size_t k = static_cast<size_t>(column.order[i]);
                if (!in[k]) continue;
                const size_t row = static_cast<size_t>(rows_[k]);
                i64& sum = sums[static_cast<size_t>(proof_.table.classes[row])];
                sum += proof_.weights[row];
                most = std::max(most, sum);
            }
            heaviest[e] = most;
        }
        sums.assign(n_classes, 0);
        most = 0;
        i64 after = 0;
        i = n;
        for (size_t e = column.ends.size(); e-- > 0;) {
            while (i > static_cast<size_t>(column.ends[e])) {
                const size_t k = static_cast<size_t>(column.order[--i]);
                if (!in[k]) continue;
                const size_t row = static_cast<size_t>(rows_[k]);
                i64& sum = sums[static_cast<size_t>(proof_.table.classes[row])];
                sum += proof_.weights[row];
                after += proof_.table.counts[row];
                most = std::max(most, sum);
            }
            const i64 cost = proof_.scale * (weight - heaviest[e] - most) + proof_.penalty;
            best.plain = std::min(best.plain, cost);
            if (std::min(after, count - after) >= proof_.min_leaf) best.fitting = std::min(best.fitting, cost);
        }
    }
    return best;
}

// Any number of classes, leaves of any size.
void Node::solve_classes(Try* first, size_t count) {
    const size_t n = rows_.size(), n_classes = static_cast<size_t>(proof_.n_classes);
    vector<int> lanes(n * kLanes, 0), weights(n), classes(n), sums(n_classes * 2 * kLanes), before;
    for (size_t i = 0; i < n; ++i) {
        weights[i] = static_cast<int>(proof_.weights[static_cast<size_t>(rows_[i])]);
        classes[i] = proof_.table.classes[static_cast<size_t>(rows_[i])];
    }
    for (size_t l = 0; l < count; ++l) {
        const Column& column = columns_[first[l].column];
        const size_t left = static_cast<size_t>(column.ends[first[l].position - 1]);
        for (size_t i = 0; i < left; ++i) {
            const size_t row = static_cast<size_t>(column.order[i]);
            lanes[row * kLanes + l] = weights[row];
        }
    }
    vector<int> best(2 * kLanes, 0);
    for (const Column& column : columns_) {
        before.resize(std::max(before.size(), column.ends.size() * 2 * kLanes));
        sweep_classes(column.order, column.ends, lanes, weights, classes, sums, before, best.data(), best.data() + kLanes);
    }
    for (size_t l = 0; l < count; ++l) {
        const Column& column = columns_[first[l].column];
        const i64* in = column.by_class.data() + first[l].position * n_classes;
        vector<i64> rest(n_classes);
        for (size_t c = 0; c < n_classes; ++c) rest[c] = total_[c] - in[c];
        for (size_t side = 0; side < 2; ++side) {
            const i64 weight = side ? weight_ - column.before[first[l].position] : column.before[first[l].position];
            const i64 leaf = proof_.scale * outside(side ? rest.data() : in, proof_.n_classes, 1);
            const i64 cost = std::min(leaf, proof_.scale * (weight - best[side * kLanes + l]) + proof_.penalty);
            first[l].sides[side] = {cost, cost};
        }
    }
}

void Node::solve_any(Try& split) {
    vector<char> in(rows_.size());
    for (size_t i = 0; i < in.size(); ++i) in[i] = goes_left(split, static_cast<int>(i));
    split.sides[0] = stump_of(in);
    for (char& one : in) one = !one;
    split.sides[1] = stump_of(in);
}

void Node::solve(vector<Try>& tries) {
    if (proof_.min_leaf > 1 || weight_ > INT32_MAX / 2) {
        for (Try& split : tries) solve_any(split);
        return;
    }
    for (size_t i = 0; i < tries.size(); i += kLanes) {
        const size_t count = std::min<size_t>(kLanes, tries.size() - i);
        if (proof_.n_classes != 2)
            solve_classes(tries.data() + i, count);
        else if (weight_ < INT16_MAX)
            solve_two_classes<std::int16_t>(tries.data() + i, count);
        else
            solve_two_classes<std::int32_t>(tries.data() + i, count);
    }
}

// The thresholds of all columns within the rows, where they are so few that all pairs are worked out. False: too many.
bool Node::find_few_thresholds(vector<std::pair<int, int>>& thresholds) const {
    if (proof_.n_classes != 2 || proof_.min_leaf > 1 || weight_ >= INT32_MAX / 4) return false;
    i64 columns = 0;
    vector<char> seen;
    for (size_t c = 0; c < proof_.table.ranks.size(); ++c) {
        const int top = proof_.table.tops[c];
        if (top > 64) return false;
        seen.assign(static_cast<size_t>(top) + 1, 0);
        for (int row : rows_) seen[static_cast<size_t>(proof_.table.ranks[c][static_cast<size_t>(row)])] = 1;
        int last = -1;
        bool any = false;
        for (int rank = 0; rank <= top; ++rank) {
            if (!seen[static_cast<size_t>(rank)]) continue;
            if (last >= 0) thresholds.emplace_back(static_cast<int>(c), last);
            any = any || last >= 0;
            last = rank;
        }
        columns += any;
    }
    return static_cast<i64>(thresholds.size()) <= std::min(kFewThresholds * columns, kMostPairs);
}

// All pairs of thresholds, two classes: a side with difference d of its classes, cut into x and d - x, has
// (weight + |x| + |d - x|) / 2 classified right. A threshold stands for its lighter side: fewer rows to add.
template <class T>
void Node::work_out_by_pairs(const vector<std::pair<int, int>>& thresholds, Shape shape, i64 relaxed, i64 lower) const {
    const size_t n = rows_.size(), width = thresholds.size();
    vector<T> in(n * width), steps(n), sums(width * width, 0);
    vector<i64> weight(width, 0);
    for (size_t i = 0; i < n; ++i) {
        const size_t row = static_cast<size_t>(rows_[i]);
        steps[i] = static_cast<T>(proof_.table.classes[row] ? proof_.weights[row] : -proof_.weights[row]);
    }
    for (size_t f = 0; f < width; ++f) {
        const Ranks& ranks = proof_.table.ranks[static_cast<size_t>(thresholds[f].first)];
        const int last = thresholds[f].second;
        size_t left = 0;
        for (int row : rows_) left += ranks[static_cast<size_t>(row)] <= last;
        const bool right = 2 * left > n;
        for (size_t i = 0; i < n; ++i) {
            const size_t row = static_cast<size_t>(rows_[i]);
            if ((ranks[row] > last) != right) continue;
            in[i * width + f] = -1;
            weight[f] += proof_.weights[row];
        }
    }
    add_pairs<T>(in, steps, width, sums);
    vector<int> pairs(width * width), diagonal(width);
    for (size_t f = 0; f < width; ++f) {
        diagonal[f] = sums[f * width + f];
        for (size_t g = f; g < width; ++g) pairs[f * width + g] = pairs[g * width + f] = sums[f * width + g];
    }
    const i64 scale = proof_.scale, penalty = proof_.penalty;
    const int all = static_cast<int>(total_[1] - total_[0]);
    for (size_t f = 0; f < width; ++f) {
        const int d = diagonal[f], rest = all - d;
        int best = 0, best_rest = 0;
        best_pairs(pairs.data() + f * width, diagonal.data(), width, d, rest, best, best_rest);
        const i64 w[2] = {weight[f], weight_ - weight[f]};
        const i64 leaf[2] = {scale * ((w[0] - std::abs(d)) / 2), scale * ((w[1] - std::abs(rest)) / 2)};
        const i64 stump[2] = {std::min(leaf[0], scale * ((w[0] - best) / 2) + penalty),
                              std::min(leaf[1], scale * ((w[1] - best_rest) / 2) + penalty)};
        const i64 cost =
            shape.splits >= 3 ? stump[0] + stump[1] : std::min(leaf[0] + stump[1], stump[0] + leaf[1]);
        need(cost + penalty >= std::max(relaxed, lower), "a tree of depth 2 costs less");
    }
}

// The splits of a column that are not closed: the middle of what is open between two that were worked out.
void Node::find_open(const Column& column, const Known& known, Shape shape, i64 relaxed, i64 lower, size_t number,
                     vector<Try>& tries) const {
    vector<i64> left = known.least[0], right = known.least[1];
    between(left, right, column.before, proof_.scale);
    vector<size_t> open;
    vector<vector<size_t>> runs;
    const auto end_run = [&] {
        if (!open.empty()) runs.push_back(open);
        open.clear();
    };
    for (size_t p = 1; p + 1 < column.positions(); ++p) {
        const bool tried = known.exact[0][p] >= 0;
        const i64 own_left = std::max(left[p], known.exact[0][p]), own_right = std::max(right[p], known.exact[1][p]);
        i64 plain = left[p] + right[p], own = own_left + own_right;
        if (shape.splits == 2) {
            plain = std::min(known.leaf[0][p] + right[p], left[p] + known.leaf[1][p]);
            own = std::min(known.leaf[0][p] + own_right, own_left + known.leaf[1][p]);
        }
        const bool wrong =
            plain + proof_.penalty < relaxed || (own + proof_.penalty < lower && column.fits[p]);
        need(!(wrong && tried), "a tree of depth 2 costs less");
        if (tried) end_run();
        if (wrong) open.push_back(p);
    }
    end_run();
    // Several splits of a run where there are few runs: lanes that stay empty are not cheaper.
    const size_t each = std::max<size_t>(1, static_cast<size_t>(kLanes) / columns_.size() / std::max<size_t>(1, runs.size()));
    for (const vector<size_t>& run : runs)
        for (size_t k = 1, many = std::min(each, run.size()); k <= many; ++k)
            tries.push_back({number, run[run.size() * k / (many + 1)], {}});
}

void Node::work_out_by_sweeps(Shape shape, i64 relaxed, i64 lower) {
    const size_t n_classes = static_cast<size_t>(proof_.n_classes);
    vector<Known> known(columns_.size());
    for (size_t c = 0; c < columns_.size(); ++c) {
        const Column& column = columns_[c];
        vector<i64> rest(n_classes);
        for (size_t p = 0; p < column.positions(); ++p) {
            const i64* sums = column.by_class.data() + p * n_classes;
            for (size_t k = 0; k < n_classes; ++k) rest[k] = total_[k] - sums[k];
            for (int side = 0; side < 2; ++side) {
                const i64* of = side ? rest.data() : sums;
                const i64 leaf = proof_.scale * outside(of, proof_.n_classes, 1);
                // A stump has two labels.
                const i64 stump = proof_.scale * outside(of, proof_.n_classes, 2) + proof_.penalty;
                known[c].leaf[side].push_back(leaf);
                known[c].least[side].push_back(std::min(leaf, stump));
                known[c].exact[side].push_back(-1);
            }
        }
    }
    for (;;) {
        vector<Try> tries;
        for (size_t c = 0; c < columns_.size(); ++c) find_open(columns_[c], known[c], shape, relaxed, lower, c, tries);
        if (tries.empty()) return;
        solve(tries);
        for (const Try& one : tries) {
            for (int side = 0; side < 2; ++side) {
                known[one.column].least[side][one.position] = one.sides[side].plain;
                known[one.column].exact[side][one.position] = one.sides[side].fitting;
            }
        }
    }
}

void Node::work_out(Shape shape, i64 relaxed, i64 lower) {
    if (shape.depth == 0) return;
    vector<std::pair<int, int>> thresholds;
    if (shape.depth == 2 && find_few_thresholds(thresholds)) {
        if (weight_ < INT16_MAX)
            work_out_by_pairs<std::int16_t>(thresholds, shape, relaxed, lower);
        else
            work_out_by_pairs<std::int32_t>(thresholds, shape, relaxed, lower);
    } else if (columns().empty()) {
        return;
    } else if (shape.depth == 1) {
        const Stump stump = stump_of(vector<char>(rows_.size(), 1));
        need(stump.plain >= relaxed && stump.fitting >= lower, "a split costs less");
    } else {
        work_out_by_sweeps(shape, relaxed, lower);
    }
}

// What an earlier claim says of a side of a split: without the minimum leaf size, and with it.
void Proof::serve(size_t k, const Shape& shape, const Where& where, const Node& node, int column, i64 rank, bool right,
                  i64& relaxed, i64& lower) const {
    const Claim& claim = claims[k];
    need(claim.shape.reaches(shape), "it takes an earlier claim for deeper trees");
    const Where others = where_of(claim);
    // The rows of the side: those of the node, and one more condition.
    Where side = where;
    auto at = std::lower_bound(side.begin(), side.end(), column,
                               [](const Condition& one, int wanted) { return one.column < wanted; });
    const int top = table.tops[static_cast<size_t>(column)];
    if (at == side.end() || at->column != column) at = side.insert(at, {column, 0, top});
    if (right)
        at->low = static_cast<int>(std::max<i64>(at->low, rank + 1));
    else
        at->high = static_cast<int>(std::min<i64>(at->high, rank));
    if (at->low == 0 && at->high == top) side.erase(at);
    i64 gone = 0;
    bool same = true;
    if (side != others) {
        // Rows of the claim that the side lacks; a claim about rows of the node needs no look at others.
        bool within = true;
        for (const Condition& one : where) {
            bool implied = false;
            for (const Condition& other : others)
                implied = implied || (other.column == one.column && other.low >= one.low && other.high <= one.high);
            within = within && implied;
        }
        const auto look = [&](int row) {
            const bool here = has(others, row), there = has(side, row);
            if (here && !there) gone += weights[static_cast<size_t>(row)];
            same = same && here == there;
        };
        if (within)
            for (int row : node.rows()) look(row);
        else
            for (size_t row = 0; row < table.classes.size(); ++row) look(static_cast<int>(row));
    }
    relaxed = std::max(relaxed, gone > claim.relaxed / scale ? 0 : claim.relaxed - scale * gone);
    if (same) lower = std::max(lower, claim.lower);
}

void Proof::check_cover(size_t k, Node& node, const Where& where, Shape least_shape) const {
    const Claim& claim = claims[k];
    Reader body{header.body, claim.cover};
    const i64 depth_given = body.next(), splits_given = body.next();
    const Shape shape = smallest(depth_given, splits_given);
    need(shape.reaches(least_shape), "its cover is of smaller trees");
    const i64 whole_claim = body.next();
    std::map<std::pair<i64, i64>, vector<Point>> groups;
    for (i64 g = body.next(); g > 0; --g) {
        const i64 column = body.next(), left_splits = body.next();
        vector<Point>& points = groups[{column, left_splits}];
        for (i64 p = body.next(); p > 0; --p) {
            Point point;
            point.rank = body.next() + (points.empty() ? -1 : points.back().rank);
            point.claims[0] = body.next();
            point.claims[1] = body.next();
            points.push_back(point);
        }
    }
    const i64 most = full(std::max<i64>(0, shape.depth - 1));
    for (const Column& column : node.columns()) {
        for (i64 l = std::max<i64>(0, shape.splits - 1 - most); l <= std::min(most, shape.splits - 1); ++l) {
            const Shape shapes[2] = {smallest(shape.depth - 1, l), smallest(shape.depth - 1, shape.splits - 1 - l)};
            vector<Point> points = {{column.values.front() - 1, {0, whole_claim}}, {column.values.back(), {whole_claim, 0}}};
            if (const auto group = groups.find({column.id, l}); group != groups.end())
                points.insert(points.end(), group->second.begin(), group->second.end());
            vector<i64> bounds[2], own[2];
            for (int side = 0; side < 2; ++side) {
                bounds[side].assign(column.positions(), 0);
                own[side].assign(column.positions(), 0);
            }
            for (const Point& point : points) {
                const size_t at = static_cast<size_t>(
                    std::upper_bound(column.values.begin(), column.values.end(), point.rank) - column.values.begin());
                for (int side = 0; side < 2; ++side)
                    if (const i64 back = point.claims[side])
                        serve(k - static_cast<size_t>(back), shapes[side], where, node, column.id, point.rank, side == 1,
                              bounds[side][at], own[side][at]);
            }
            between(bounds[0], bounds[1], column.before, scale);
            for (size_t p = 1; p + 1 < column.positions(); ++p) {
                const i64 cost = bounds[0][p] + bounds[1][p] + penalty;
                const i64 best = std::max(cost, own[0][p] + own[1][p] + penalty);
                if (cost < claim.relaxed || (best < claim.lower && column.fits[p]))
                    throw Refused("column " + std::to_string(column.id) + " is open at rank " +
                                  std::to_string(column.values[p - 1]) + " with " + std::to_string(l) + " splits left");
            }
        }
    }
}

void Proof::check_claim(size_t k) const {
    const Claim& claim = claims[k];
    const Where where = where_of(claim);
    Node node(*this, where);
    need(claim.lower <= node.leaf(), "a single leaf costs less");
    const i64 few = std::max<i64>(0, node.n() - 1);
    const Shape shape = smallest(std::min(claim.shape.depth, few), std::min(claim.shape.splits, few));
    if (claim.cover) return check_cover(k, node, where, shape);
    need(shape.depth <= 2, "it is too deep to be worked out");
    node.work_out(shape, claim.relaxed, claim.lower);
}

void Proof::check_tree() const {
    const i64 cost = whole(header.tree[0]);
    std::istringstream nodes(header.tree[1]);
    string token;
    i64 splits = 0, wrong = 0;
    vector<std::pair<vector<int>, i64>> waiting(1);
    for (size_t row = 0; row < table.classes.size(); ++row) waiting[0].first.push_back(static_cast<int>(row));
    while (!waiting.empty()) {
        const auto [rows, depth] = std::move(waiting.back());
        waiting.pop_back();
        need(static_cast<bool>(std::getline(nodes, token, ' ')), "the tree has too few nodes");
        const size_t colon = token.find(':');
        if (colon != string::npos) {
            const i64 column = whole(token.substr(0, colon), 0, static_cast<i64>(table.ranks.size()) - 1);
            const i64 rank = whole(token.substr(colon + 1));
            need(++splits <= header.splits, "the tree has too many nodes");
            vector<int> sides[2];
            for (int row : rows)
                sides[table.ranks[static_cast<size_t>(column)][static_cast<size_t>(row)] > rank].push_back(row);
            waiting.emplace_back(std::move(sides[1]), depth + 1);
            waiting.emplace_back(std::move(sides[0]), depth + 1);
            continue;
        }
        need(depth <= header.depth, "the tree is deeper than the limits");
        const i64 label = whole(token, 0, n_classes - 1);
        i64 count = 0;
        for (int row : rows) {
            count += table.counts[static_cast<size_t>(row)];
            if (table.classes[static_cast<size_t>(row)] != label) wrong += table.weights[static_cast<size_t>(row)];
        }
        need(count >= min_leaf, "a leaf of the tree is too small");
    }
    need(!std::getline(nodes, token, ' ') && splits <= header.splits, "the tree has too many nodes");
    need(splits == 0 || penalty < kMostCost / splits, "the costs are too large");
    need(wrong * scale + splits * penalty == cost, "the tree costs something else");
    need(header.bound <= cost, "the tree costs less than the bound");
}

void Proof::check_last() const {
    if (!header.tree.empty()) check_tree();
    if (header.bound <= 0) return;
    need(!claims.empty(), "there is no claim");
    const Claim& claim = claims.back();
    i64 most = std::min(header.splits, static_cast<i64>(table.classes.size()) - 1);
    most = std::min(most, table.n_rows / std::max<i64>(1, min_leaf) - 1);
    if (table.ranks.empty()) most = 0;
    vector<i64> by_class(static_cast<size_t>(n_classes), 0);
    for (size_t row = 0; row < table.classes.size(); ++row)
        by_class[static_cast<size_t>(table.classes[row])] += table.weights[row];
    if (penalty > 0) {
        const i64 leaf = scale * outside(by_class.data(), n_classes, 1);
        most = std::min(most, leaf / penalty + (leaf % penalty != 0) - 1);
    }
    need(claim.where_begin == claim.where_end, "the last claim is not about all rows");
    need(claim.shape.reaches(smallest(header.depth, std::max<i64>(0, most))), "the last claim is about smaller trees");
    need((sampled ? claim.relaxed : claim.lower) >= header.bound, "the last claim does not reach the bound");
}

string Proof::sentence() const {
    string text = "no tree of depth " + std::to_string(header.depth);
    if (header.splits < full(header.depth)) text += " and " + std::to_string(header.splits + 1) + " leaves";
    if (min_leaf > 1) text += " with at least " + std::to_string(min_leaf) + " rows in each leaf";
    const string bound = std::to_string(header.bound);
    if (penalty || scale > 1)
        text += " costs less than " + bound + " (" + std::to_string(scale) + " for each error, " +
                std::to_string(penalty) + " for each split)";
    else if (table.total != table.n_rows)
        text += " gets rows of a weight below " + bound + " wrong";
    else
        text += " makes fewer than " + bound + " errors";
    return text + " on these " + std::to_string(table.n_rows) + " rows";
}

// Claims are taken by whichever thread is free; the first failure ends them all.
void check_claims(const Proof& proof, size_t part, size_t parts, size_t jobs) {
    std::atomic<size_t> next{part};
    std::atomic<bool> failed{false};
    std::mutex lock;
    string why;
    const auto work = [&] {
        for (size_t k; !failed && (k = next.fetch_add(parts)) < proof.claims.size();) {
            try {
                proof.check_claim(k);
            } catch (const std::exception& error) {
                const std::lock_guard<std::mutex> hold(lock);
                if (!failed.exchange(true))
                    why = "claim " + std::to_string(k) + " of " + std::to_string(proof.claims.size()) +
                          " fails: " + error.what();
            }
        }
    };
    vector<std::thread> threads;
    for (size_t i = 1; i < jobs; ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    need(!failed, why);
}

int run(const vector<string>& arguments) {
    vector<string> files;
    i64 jobs = 1, part = 1, parts = 1;
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--jobs" && i + 1 < arguments.size()) {
            jobs = whole(arguments[++i], 1, 1024);
        } else if (arguments[i] == "--part" && i + 1 < arguments.size()) {
            const string& given = arguments[++i];
            const size_t slash = std::min(given.find('/'), given.size());
            part = whole(given.substr(0, slash), 1);
            parts = whole(slash < given.size() ? given.substr(slash + 1) : "", part);
        } else {
            files.push_back(arguments[i]);
        }
    }
    need(files.size() == 2, "usage: ptcheck CERTIFICATE TABLE.csv [--jobs N] [--part I/N]");
    const Header header(read_file(files[0]));
    const Table table(header, read_csv(files[1]));
    const Proof proof(header, table);
    proof.check_last();
    check_claims(proof, static_cast<size_t>(part - 1), static_cast<size_t>(parts), static_cast<size_t>(jobs));
    if (parts == 1)
        std::printf("checked: %s\n", proof.sentence().c_str());
    else
        std::printf("part %lld of %lld holds of: %s\n", static_cast<long long>(part), static_cast<long long>(parts),
                    proof.sentence().c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(vector<string>(argv + 1, argv + argc));
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "not checked: there is not enough memory\n");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "not checked: %s\n", error.what());
    }
    return 1;
}
