// Reads a CSV file as docs/certificate.md says.
#include <algorithm>
#include <set>

#include "table.hpp"

namespace ptcheck {

// The separator is whichever of four the header line has most of.
static char separator_of(const string& text) {
    std::map<char, size_t> seen;
    bool quoted = false;
    for (size_t i = text.find_first_not_of("\r\n"); i < text.size() && text[i] != '\n'; ++i) {
        if (text[i] == '"') quoted = !quoted;
        if (!quoted) ++seen[text[i]];
    }
    char separator = ',';
    for (char c : {';', '\t', '|'})
        if (seen[c] > seen[separator]) separator = c;
    return separator;
}

static vector<vector<string>> lines_of(const string& text, char separator) {
    vector<vector<string>> lines;
    vector<string> line(1);
    bool any = false, inside = false;
    const auto end_line = [&] {
        const size_t cells = line.size();
        if (any) lines.push_back(std::move(line));
        line = {};
        line.reserve(cells);
        line.emplace_back();
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
    return lines;
}

Cells read_csv(const string& path) {
    string text = read_file(path);
    need(text.rfind("\x1f\x8b", 0) != 0, "this checker reads no gzip files: unpack the table first");
    need(is_utf8(text), "the table is no text in UTF-8");
    if (text.rfind("\xef\xbb\xbf", 0) == 0) text.erase(0, 3);
    need(text.find_first_not_of("\r\n") != string::npos, "the table is empty");
    vector<vector<string>> lines = lines_of(text, separator_of(text));
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
        lines[r].resize(columns.size());
        for (size_t i = 0; i < columns.size(); ++i) {
            string& cell = lines[r][i];
            const bool missing = cell.size() <= 4 && words.count(cell) > 0;
            columns[i]->push_back({std::move(cell), missing});
        }
    }
    return cells;
}

}  // namespace ptcheck
