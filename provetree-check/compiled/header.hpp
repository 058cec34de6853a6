// The header of a certificate, and the lines of its claims.
#pragma once

#include <map>
#include <utility>

#include "json.hpp"

namespace ptcheck {

// A column of the file, or a sum of two earlier features: a times the first plus b times the second.
struct Feature {
    string name, kind;
    vector<string> rest;  // thresholds or values
    double a = 0, b = 0, noise = 0;
    size_t first = 0, second = 0;
    // Only some of its splits count: those at thresholds, or one category.
    bool lists_splits() const { return kind == "first" || kind == "last" || kind == "is" || kind == "empty"; }
};

// A split "rank <= value" of a column, or a leaf (column -1) with the label `value`; nodes are in preorder.
struct TreeNode {
    i64 column, value;
};

struct Header {
    explicit Header(string data);

    string data;                               // the whole certificate
    vector<std::pair<size_t, size_t>> claims;  // where their lines begin and end
    string target, weight, sum;                // the weight is empty where there is none
    i64 above = 1, below = 1;                  // what weights are multiplied by and divided by
    vector<std::pair<string, i64>> classes;
    vector<Feature> features;
    bool candidates = false;  // only the splits that are listed count
    i64 rows = 0, scale = 0, penalty = 0, depth = 0, splits = 0, min_leaf = 0, bound = 0;
    vector<TreeNode> tree;  // empty where there is none
    bool sampled = false;
    vector<i64> sample;

  private:
    void read(JsonReader line);
    void read_feature(JsonReader& line);
    void read_tree(JsonReader& line, i64 depth);
};

}  // namespace ptcheck
