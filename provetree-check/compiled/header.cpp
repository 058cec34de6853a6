// Reads the header; see header.hpp.
#include "header.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace ptcheck {

void Header::read_features(const Json& given) {
    for (const Json& one : given.items()) {
        const vector<Json>& f = one.items();
        need(f.size() >= 2, "a feature of the header is too short");
        Feature feature{f[0].word(), f[1].word(), {}};
        if (feature.kind == "sum") {
            need(f.size() == 7, "a sum of two features needs five numbers");
            const i64 last = static_cast<i64>(features.size()) - 1;
            feature.a = number(f[2].word()), feature.b = number(f[4].word()), feature.noise = number(f[6].word());
            feature.first = static_cast<size_t>(f[3].whole(0, last));
            feature.second = static_cast<size_t>(f[5].whole(0, last));
            const auto has_numbers = [&](size_t which) {
                const string& kind = features[which].kind;
                return kind == "number" || kind == "first" || kind == "last";
            };
            need(has_numbers(feature.first) && has_numbers(feature.second) && std::isfinite(feature.a) &&
                     std::isfinite(feature.b) && std::isfinite(feature.noise) && feature.noise >= 0,
                 "a sum of two features is wrong");
        } else {
            for (size_t i = 2; i < f.size(); ++i) feature.rest.push_back(f[i].word());
        }
        candidates = candidates || feature.lists_splits();
        features.push_back(feature);
    }
}

void Header::read(const std::map<string, Json>& fields) {
    static const std::set<string> known = {"made_by", "target", "weight",   "classes", "features",
                                           "rows",    "sum",    "scale",    "penalty", "depth",
                                           "splits",  "bound",  "min_leaf", "tree",    "sample"};
    for (const auto& [key, value] : fields) need(known.count(key) > 0, "the header has a field that is not known");
    need(fields.size() == known.size(), "a field of the header is missing");
    const auto at = [&](const char* key) -> const Json& { return fields.at(key); };
    target = at("target").word();
    if (at("weight").kind != Json::kNull) {
        const vector<Json>& w = at("weight").items();
        need(w.size() == 3, "the weight needs a column and two numbers");
        weight = w[0].word(), above = w[1].whole(1), below = w[2].whole(1);
        need(!weight.empty(), "the table has no column ''");
    }
    for (const Json& one : at("classes").items()) {
        need(one.items().size() == 2, "a class needs a label and a multiplier");
        classes.emplace_back(one.list[0].word(), one.list[1].whole(1));
    }
    read_features(at("features"));
    rows = at("rows").whole();
    sum = at("sum").word();
    scale = at("scale").whole(1);
    penalty = at("penalty").whole();
    depth = at("depth").whole(0, kMostDepth);
    splits = at("splits").whole();
    min_leaf = at("min_leaf").whole();
    bound = at("bound").whole(1 - kMostCost);
    tree = at("tree");
    sampled = at("sample").kind != Json::kNull;
    if (sampled)
        for (const Json& one : at("sample").items()) sample.push_back(one.whole());
}

Header::Header(string given) : data(std::move(given)) {
    need(data.rfind("provetree certificate ", 0) == 0, "this is no certificate");
    need(data.rfind("provetree certificate 1\n", 0) == 0, "its version is not known");
    const size_t end = data.rfind("digest ");
    Sha256 digest;
    if (end != string::npos) digest.add(data.data(), end);
    need(end != string::npos && data[end - 1] == '\n' && data.substr(end + 7) == digest.hex() + "\n",
         "the certificate is cut off or damaged");
    size_t begin = data.find('\n') + 1;
    vector<std::pair<size_t, size_t>> lines;
    while (begin < end) {
        const size_t next = data.find('\n', begin);
        lines.emplace_back(begin, next);
        begin = next + 1;
    }
    need(!lines.empty(), "the certificate has no header");
    JsonReader reader(data, lines[0].first, lines[0].second);
    const Json header = reader.value();
    reader.end();
    need(header.kind == Json::kObject, "the header is no object");
    read(header.fields);
    claims.assign(lines.begin() + 1, lines.end());
    need(static_cast<i64>(claims.size()) <= kMostClaims, "there are too many claims");
}

}  // namespace ptcheck
