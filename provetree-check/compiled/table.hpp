// The table as docs/certificate.md says it is read: merged rows in their order.
#pragma once

#include "header.hpp"

namespace ptcheck {

struct Cell {
    string text;
    bool missing = false;
};
using Cells = std::map<string, vector<Cell>>;  // by the name of their column

Cells read_csv(const string& path);

using Ranks = vector<int>;

struct Table {
    Table(const Header& header, const Cells& cells);

    vector<Ranks> ranks;  // by listed column
    vector<int> classes, tops;
    vector<i64> weights, counts;
    i64 n_classes = 0, n_rows = 0, total = 0;
    string columns_used;  // how many, where the file has others

  private:
    void merge(const Header& header, const vector<Ranks>& columns, const Ranks& labels, const vector<i64>& weights);
    void check_digest(const Header& header) const;
};

}  // namespace ptcheck
