// Reads JSON; see json.hpp.
#include "json.hpp"

#include <cctype>
#include <cstring>

namespace ptcheck {

namespace {

constexpr const char* kNoText = "a text is not of the form";

void put_utf8(string& text, unsigned code) {
    if (code < 0x80) {
        text += static_cast<char>(code);
        return;
    }
    const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    const unsigned first[] = {0, 0xC0, 0xE0, 0xF0};
    text += static_cast<char>(first[more] | code >> (6 * more));
    for (int i = more; i-- > 0;) text += static_cast<char>(0x80 | (code >> (6 * i) & 0x3F));
}

}  // namespace

bool JsonReader::passes(const char* text) {
    const size_t n = std::strlen(text);
    if (at_ + n > end_ || data_.compare(at_, n, text) != 0) return false;
    at_ += n;
    return true;
}

// Of at most 18 digits, and without zeros before it.
i64 JsonReader::whole(i64 most, i64 least) {
    i64 value = 0;
    const size_t begin = at_;
    for (; at_ < end_ && at_ < begin + 18 && data_[at_] >= '0' && data_[at_] <= '9'; ++at_)
        value = 10 * value + (data_[at_] - '0');
    need(at_ > begin && (data_[begin] != '0' || at_ == begin + 1), "it has something else than whole numbers");
    need(value >= least && value <= most, "a number may not stand where it does");
    return value;
}

unsigned JsonReader::escaped() {
    unsigned code = 0;
    for (int i = 0; i < 4; ++i) {
        need(at_ < end_ && std::isxdigit(static_cast<unsigned char>(data_[at_])), kNoText);
        const char c = data_[at_++];
        code = code * 16 + static_cast<unsigned>(c <= '9' ? c - '0' : (c | 32) - 'a' + 10);
    }
    return code;
}

string JsonReader::word() {
    expect("\"");
    string text;
    while (true) {
        need(at_ < end_ && static_cast<unsigned char>(data_[at_]) >= ' ', kNoText);
        const char c = data_[at_++];
        if (c == '"') return text;
        if (c != '\\') {
            text += c;
            continue;
        }
        need(at_ < end_, kNoText);
        const char what = data_[at_++];
        const char* const from = "bfnrt\"\\/";
        const char* const found = what ? std::strchr(from, what) : nullptr;
        if (found) {
            text += "\b\f\n\r\t\"\\/"[found - from];
            continue;
        }
        need(what == 'u', kNoText);
        unsigned code = escaped();
        if (code >= 0xD800 && code < 0xE000) {  // two halves of one character
            need(code < 0xDC00 && passes("\\u"), kNoText);
            const unsigned low = escaped();
            need(low >= 0xDC00 && low < 0xE000, kNoText);
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
        }
        put_utf8(text, code);
    }
}

}  // namespace ptcheck
