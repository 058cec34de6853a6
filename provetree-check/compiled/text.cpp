// Numbers, files, SHA-256; see text.hpp.
#include "text.hpp"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <sstream>
#include <utility>

namespace ptcheck {

string read_file(const string& path) {
    std::ifstream file(path, std::ios::binary);
    need(file.good(), "there is no file '" + path + "'");
    std::ostringstream content;
    content << file.rdbuf();
    return content.str();
}

// As RFC 3629 says: no longer than needed, no halves of characters, none beyond the last one.
bool is_utf8(const string& text) {
    const auto byte = [&](size_t i) { return i < text.size() ? static_cast<u8>(text[i]) : 0; };
    for (size_t i = 0; i < text.size();) {
        const unsigned first = byte(i), second = byte(i + 1);
        if (first >= 0x80 && (first < 0xC2 || first > 0xF4)) return false;
        const size_t more = first < 0x80 ? 0 : first < 0xE0 ? 1 : first < 0xF0 ? 2 : 3;
        for (size_t k = 1; k <= more; ++k)
            if ((byte(i + k) & 0xC0) != 0x80) return false;
        if ((first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) || (first == 0xF0 && second < 0x90) ||
            (first == 0xF4 && second > 0x8F))
            return false;
        i += more + 1;
    }
    return true;
}

i64 whole(const string& text, i64 least, i64 most) {
    const size_t from = !text.empty() && text[0] == '-' ? 1 : 0;
    bool good =
        text.size() > from && text.size() - from <= 19 && text.find_first_not_of("0123456789", from) == string::npos;
    i64 value = 0;
    if (good) {
        errno = 0;
        value = std::strtoll(text.c_str(), nullptr, 10);
        good = errno == 0 && value >= least && value <= most;
    }
    need(good, "'" + text.substr(0, 40) + "' is no whole number that may stand there");
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
            if (at == exponent || at - exponent > 4) return false;
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
    if (at < text.size()) power += std::strtol(text.c_str() + at + 1, nullptr, 10);
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

static std::uint32_t turned(std::uint32_t x, int by) { return x >> by | x << (32 - by); }

void Sha256::add(const void* data, size_t size) {
    const u8* at = static_cast<const u8*>(data);
    total_ += size;
    while (size > 0) {
        if (fill_ == 0 && size >= 64) {
            mix(at);
            at += 64;
            size -= 64;
            continue;
        }
        const size_t part = std::min(size, 64 - fill_);
        std::memcpy(block_ + fill_, at, part);
        at += part;
        size -= part;
        fill_ += part;
        if (fill_ == 64) {
            mix(block_);
            fill_ = 0;
        }
    }
}

string Sha256::hex() {
    const std::uint64_t bits = total_ * 8;
    const u8 one = 0x80, zero = 0;
    add(&one, 1);
    while (fill_ != 56) add(&zero, 1);
    u8 length[8];
    for (int i = 0; i < 8; ++i) length[i] = static_cast<u8>(bits >> (8 * (7 - i)));
    add(length, 8);
    string text;
    for (std::uint32_t word : state_) {
        char digits[9];
        std::snprintf(digits, sizeof digits, "%08x", word);
        text += digits;
    }
    return text;
}

void Sha256::mix(const u8* block) {
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
        w[i] = std::uint32_t{block[4 * i]} << 24 | std::uint32_t{block[4 * i + 1]} << 16 |
               std::uint32_t{block[4 * i + 2]} << 8 | block[4 * i + 3];
    for (int i = 16; i < 64; ++i)
        w[i] = w[i - 16] + (turned(w[i - 15], 7) ^ turned(w[i - 15], 18) ^ w[i - 15] >> 3) + w[i - 7] +
               (turned(w[i - 2], 17) ^ turned(w[i - 2], 19) ^ w[i - 2] >> 10);
    std::uint32_t a = state_[0], b = state_[1], c = state_[2], d = state_[3], e = state_[4], f = state_[5],
                  g = state_[6], h = state_[7];
    for (int i = 0; i < 64; ++i) {
        const std::uint32_t x = h + (turned(e, 6) ^ turned(e, 11) ^ turned(e, 25)) + ((e & f) ^ (~e & g)) + k[i] + w[i];
        const std::uint32_t y = (turned(a, 2) ^ turned(a, 13) ^ turned(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + x, d = c, c = b, b = a, a = x + y;
    }
    const std::uint32_t after[8] = {a, b, c, d, e, f, g, h};
    for (int i = 0; i < 8; ++i) state_[i] += after[i];
}

}  // namespace ptcheck
