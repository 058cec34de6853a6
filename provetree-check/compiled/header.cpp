// Reads the header; see header.hpp.
#include "header.hpp"

#include <algorithm>
#include <cmath>

namespace ptcheck {

void Header::read_feature(JsonReader& line) {
    Feature feature;
    line.expect("[");
    feature.name = line.word();
    line.expect(",");
    for (const char* kind : {"number", "category", "sum", "first", "last", "is", "empty"})
        if (line.passes(("\"" + string(kind) + "\"").c_str())) feature.kind = kind;
    need(!feature.kind.empty(), "a kind of feature is not known");
    const auto next = [&] {
        line.expect(",");
        return line.word();
    };
    const auto earlier = [&] {
        line.expect(",");
        const size_t which = static_cast<size_t>(line.whole(static_cast<i64>(features.size()) - 1));
        const string& kind = features[which].kind;
        need(kind == "number" || kind == "first" || kind == "last", "a sum of two features is wrong");
        return which;
    };
    if (feature.kind == "sum") {
        feature.a = number(next()), feature.first = earlier();
        feature.b = number(next()), feature.second = earlier();
        feature.noise = number(next());
        need(std::isfinite(feature.a) && std::isfinite(feature.b) && std::isfinite(feature.noise) && feature.noise >= 0,
             "a sum of two features is wrong");
    } else if (feature.kind != "number" && feature.kind != "empty") {
        while (line.passes(",")) feature.rest.push_back(line.word());
    }
    line.expect("]");
    candidates = candidates || feature.lists_splits();
    features.push_back(feature);
}

void Header::read_tree(JsonReader& line, i64 at) {
    need(at <= depth, "the tree is deeper than the limits");
    if (!line.passes("[")) return tree.push_back({-1, line.whole()});
    const i64 column = line.whole();
    line.expect(",");
    tree.push_back({column, line.whole()});
    for (int side = 0; side < 2; ++side) {
        line.expect(",");
        read_tree(line, at + 1);
    }
    line.expect("]");
}

void Header::read(JsonReader line) {
    line.expect("{\"made_by\":");
    line.word();
    line.expect(",\"target\":");
    target = line.word();
    line.expect(",\"weight\":");
    if (!line.passes("null")) {
        line.expect("[");
        weight = line.word();
        need(!weight.empty(), "the table has no column ''");
        line.expect(",");
        above = line.whole(kMostCost - 1, 1);
        line.expect(",");
        below = line.whole(kMostCost - 1, 1);
        line.expect("]");
    }
    line.expect(",\"classes\":");
    line.list([&] {
        line.expect("[");
        const string label = line.word();
        line.expect(",");
        classes.emplace_back(label, line.whole(kMostCost - 1, 1));
        line.expect("]");
    });
    line.expect(",\"features\":");
    line.list([&] { read_feature(line); });
    line.expect(",\"rows\":");
    rows = line.whole();
    line.expect(",\"sum\":");
    sum = line.word();
    line.expect(",\"scale\":");
    scale = line.whole(kMostCost - 1, 1);
    line.expect(",\"penalty\":");
    penalty = line.whole();
    line.expect(",\"depth\":");
    depth = line.whole(kMostDepth);
    line.expect(",\"splits\":");
    splits = line.whole();
    line.expect(",\"min_leaf\":");
    min_leaf = line.whole();
    line.expect(",\"bound\":");
    const i64 sign = line.passes("-") ? -1 : 1;
    bound = sign * line.whole();
    line.expect(",\"tree\":");
    if (!line.passes("null")) read_tree(line, 0);
    line.expect(",\"sample\":");
    sampled = !line.passes("null");
    if (sampled) line.list([&] { sample.push_back(line.whole()); });
    line.expect("}");
    line.end();
}

Header::Header(string given) : data(std::move(given)) {
    need(data.rfind("provetree certificate ", 0) == 0, "this is no certificate");
    need(data.rfind("provetree certificate 1\n", 0) == 0, "its version is not known");
    const size_t end = data.rfind("\ndigest ") + 1;  // 0 where there is none
    Sha256 digest;
    digest.add(data.data(), end);
    need(end > 0 && data.substr(end + 7) == digest.hex() + "\n", "the certificate is cut off or damaged");
    vector<std::pair<size_t, size_t>> lines;
    for (size_t begin = data.find('\n') + 1; begin < end; begin = lines.back().second + 1)
        lines.emplace_back(begin, data.find('\n', begin));
    need(!lines.empty(), "the certificate has no header");
    const auto [first, last] = lines[0];
    need(is_utf8(data.substr(first, last - first)), "the header is no text in UTF-8");
    read(JsonReader(data, first, last));
    claims.assign(lines.begin() + 1, lines.end());
}

}  // namespace ptcheck
