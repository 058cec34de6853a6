// Reads the header; see header.hpp.
#include "header.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

namespace ptcheck {

static vector<string> fields_of(const string& line) {
    vector<string> fields(1);
    for (size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '\t')
            fields.emplace_back();
        else if (line[i] == '\\' && i + 1 < line.size() && fields.size() > 1) {
            const char c = line[++i];
            fields.back() += c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c;
        } else
            fields.back() += line[i];
    }
    return fields;
}

const vector<vector<string>>& Header::all(const string& key, size_t least) {
    const vector<vector<string>>& found = lines_[key];
    for (const vector<string>& fields : found)
        need(fields.size() >= least, "a line '" + key + "' of the header is too short");
    return found;
}

const vector<string>& Header::one(const string& key, size_t least) {
    need(all(key, least).size() == 1, "the header needs one line '" + key + "'");
    return lines_[key][0];
}

void Header::read_lines(const string& text) {
    static const std::set<string> known = {"made by", "target",    "weight", "class", "feature", "table",
                                           "limits",  "objective", "bound",  "tree",  "body"};
    std::istringstream lines(text);
    string line;
    std::getline(lines, line);
    need(line.rfind("provetree certificate ", 0) == 0, "this is no certificate");
    need(line == "provetree certificate 1", "the version of the certificate is not known");
    while (std::getline(lines, line)) {
        vector<string> fields = fields_of(line);
        need(known.count(fields[0]) > 0, "the header has a line that is not known");
        lines_[fields[0]].emplace_back(fields.begin() + 1, fields.end());
    }
}

void Header::read_features() {
    for (const vector<string>& f : all("feature", 2)) {
        Feature feature{f[0], f[1], {f.begin() + 2, f.end()}};
        if (feature.kind == "sum") {
            need(f.size() == 7, "a sum of two features needs five numbers");
            const i64 last = static_cast<i64>(features.size()) - 1;
            feature.a = number(f[2]), feature.b = number(f[4]), feature.noise = number(f[6]);
            feature.first = static_cast<size_t>(whole(f[3], 0, last));
            feature.second = static_cast<size_t>(whole(f[5], 0, last));
            const auto has_numbers = [&](size_t which) {
                const string& kind = features[which].kind;
                return kind == "number" || kind == "first" || kind == "last";
            };
            need(has_numbers(feature.first) && has_numbers(feature.second) && std::isfinite(feature.a) &&
                     std::isfinite(feature.b) && std::isfinite(feature.noise) && feature.noise >= 0,
                 "a sum of two features is wrong");
        }
        candidates = candidates || feature.lists_splits();
        features.push_back(feature);
    }
}

Header::Header(const string& data) {
    const size_t end = data.find("\n\n");
    body = end == string::npos ? "" : data.substr(end + 2);
    read_lines(data.substr(0, end));
    Sha256 digest;
    digest.add(body.data(), body.size());
    const vector<string>& about_body = one("body", 2);
    need(whole(about_body[0]) == static_cast<i64>(body.size()) && digest.hex() == about_body[1],
         "the certificate is cut off or damaged");
    target = one("target", 1)[0];
    table = one("table", 3);
    if (lines_.count("weight")) weight = one("weight", 3);
    for (const vector<string>& f : all("class", 2)) classes.emplace_back(f[0], whole(f[1], 1));
    read_features();
    scale = whole(one("objective", 2)[0], 1);
    penalty = whole(one("objective", 2)[1]);
    depth = whole(one("limits", 3)[0], 0, kMostDepth);
    splits = whole(one("limits", 3)[1]);
    min_leaf = whole(one("limits", 3)[2]);
    bound = whole(one("bound", 1)[0], -kMostCost);
    if (lines_.count("tree")) tree = one("tree", 2);
}

}  // namespace ptcheck
