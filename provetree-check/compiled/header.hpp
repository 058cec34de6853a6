// The text lines of a certificate, and its body.
#pragma once

#include <map>
#include <utility>

#include "text.hpp"

namespace ptcheck {

// A column of the file, or a sum of two earlier features: a times the first plus b times the second.
struct Feature {
    string name, kind;
    vector<string> rest;  // the other fields of its line
    double a = 0, b = 0, noise = 0;
    size_t first = 0, second = 0;
    // Only some of its splits count: those at thresholds, or one category.
    bool lists_splits() const { return kind == "first" || kind == "last" || kind == "is" || kind == "empty"; }
};

struct Header {
    explicit Header(const string& data);

    string body, target;
    vector<string> table, weight;
    vector<std::pair<string, i64>> classes;
    vector<Feature> features;
    bool candidates = false;  // only the splits that are listed count
    i64 scale = 0, penalty = 0, depth = 0, splits = 0, min_leaf = 0, bound = 0;
    vector<string> tree;

  private:
    void read_lines(const string& text);
    void read_features();
    const vector<vector<string>>& all(const string& key, size_t least);
    const vector<string>& one(const string& key, size_t least);

    std::map<string, vector<vector<string>>> lines_;
};

}  // namespace ptcheck
