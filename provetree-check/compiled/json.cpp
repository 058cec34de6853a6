// Reads JSON; see json.hpp.
#include "json.hpp"

#include <cctype>
#include <cstring>

namespace ptcheck {

i64 Json::whole(i64 least, i64 most) const {
    need(kind == kWhole && number >= least && number <= most, "a number of the certificate is out of bounds");
    return number;
}

const string& Json::word() const {
    need(kind == kText, "the header has something else than a text");
    return text;
}

const vector<Json>& Json::items() const {
    need(kind == kList, "the header has something else than a list");
    return list;
}

void JsonReader::skip() {
    while (at_ < end_ && (data_[at_] == ' ' || data_[at_] == '\t' || data_[at_] == '\r')) ++at_;
}

bool JsonReader::passes(char c) {
    skip();
    if (at_ >= end_ || data_[at_] != c) return false;
    ++at_;
    return true;
}

bool JsonReader::has(const char* text) {
    const size_t n = std::strlen(text);
    if (at_ + n > end_ || data_.compare(at_, n, text) != 0) return false;
    at_ += n;
    return true;
}

i64 JsonReader::whole(i64 most) {
    skip();
    i64 value = 0;
    const size_t begin = at_;
    for (; at_ < end_ && data_[at_] >= '0' && data_[at_] <= '9'; ++at_) {
        value = 10 * value + (data_[at_] - '0');
        need(value <= most, "a number is too large where it stands");
    }
    need(at_ > begin, "a claim has something else than whole numbers");
    return value;
}

// Whole numbers of up to 18 digits are kept; others are only known to be none.
Json JsonReader::number() {
    Json found;
    const size_t begin = at_;
    if (at_ < end_ && data_[at_] == '-') ++at_;
    const size_t digits = at_;
    while (at_ < end_ && std::isdigit(static_cast<unsigned char>(data_[at_]))) ++at_;
    need(at_ > digits, "the header is no JSON");
    const bool is_whole = at_ - digits <= 19 && !(at_ < end_ && std::strchr(".eE", data_[at_]));
    while (at_ < end_ && std::strchr("+-.eE0123456789", data_[at_])) ++at_;
    found.kind = Json::kOther;
    if (is_whole) {
        found.number = ptcheck::whole(data_.substr(begin, at_ - begin), -kMostCost, kMostCost);
        found.kind = Json::kWhole;
    }
    return found;
}

unsigned JsonReader::escaped() {
    unsigned code = 0;
    for (int i = 0; i < 4; ++i) {
        need(at_ < end_ && std::isxdigit(static_cast<unsigned char>(data_[at_])), "the header is no JSON");
        const char c = data_[at_++];
        code = code * 16 + static_cast<unsigned>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return code;
}

static void put_utf8(string& text, unsigned code) {
    if (code < 0x80) {
        text += static_cast<char>(code);
        return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    const unsigned first[] = {0, 0xC0, 0xE0, 0xF0};
    text += static_cast<char>(first[more] | code >> (6 * more));
    for (int i = more; i-- > 0;) text += static_cast<char>(0x80 | (code >> (6 * i) & 0x3F));
}

string JsonReader::word() {
    string text;
    while (true) {
        need(at_ < end_, "the header is no JSON");
        const char c = data_[at_++];
        if (c == '"') return text;
        if (c != '\\') {
            text += c;
            continue;
        }
        need(at_ < end_, "the header is no JSON");
        const char what = data_[at_++];
        const char* const from = "bfnrt\"\\/";
        const char* const found = what ? std::strchr(from, what) : nullptr;
        if (found) {
            text += "\b\f\n\r\t\"\\/"[found - from];
            continue;
        }
        need(what == 'u', "the header is no JSON");
        unsigned code = escaped();
        if (code >= 0xD800 && code < 0xDC00 && has("\\u")) {  // two halves of one character
            const unsigned low = escaped();
            need(low >= 0xDC00 && low < 0xE000, "the header is no JSON");
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        put_utf8(text, code);
    }
}

Json JsonReader::value(int depth) {
    need(depth < 200, "the header is too deep");
    skip();
    need(at_ < end_, "the header is no JSON");
    Json found;
    if (passes('"')) {
        found.kind = Json::kText;
        found.text = word();
    } else if (passes('[')) {
        found.kind = Json::kList;
        if (passes(']')) return found;
        do found.list.push_back(value(depth + 1));
        while (passes(','));
        expect(']');
    } else if (passes('{')) {
        found.kind = Json::kObject;
        if (passes('}')) return found;
        do {
            expect('"');
            const string key = word();
            expect(':');
            found.fields[key] = value(depth + 1);
        } while (passes(','));
        expect('}');
    } else if (has("true") || has("false")) {
        found.kind = Json::kOther;
    } else if (!has("null")) {
        found = number();
    }
    return found;
}

}  // namespace ptcheck
