// What every part of the checker needs: refusals, whole and decimal numbers, files, SHA-256.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

namespace ptcheck {

using i64 = std::int64_t;
using u8 = std::uint8_t;
using std::size_t;
using std::string;
using std::vector;

constexpr i64 kMostCost = 1'000'000'000'000'000'000, kMostWeight = i64{1} << 50, kMostDepth = 64;

// The certificate does not show what it claims; the message says where and why.
struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void need(bool holds, const char* why) {
    if (!holds) throw Refused(why);
}
inline void need(bool holds, const string& why) {
    if (!holds) throw Refused(why);
}

string read_file(const string& path);
string stripped(const string& text);
bool is_utf8(const string& text);
// A whole number among the arguments of the program.
i64 whole(const string& text, i64 least = 0, i64 most = kMostCost - 1);
bool is_number(const string& text, double& value);
double number(const string& text);
// A decimal number of at most 18 digits, but for zeros at its ends, times numerator / denominator, if that is a whole
// number from 0 on, and below kMostWeight.
i64 scaled_decimal(const string& cell, i64 numerator, i64 denominator);

// SHA-256 as in FIPS 180-4.
class Sha256 {
  public:
    void add(const void* data, size_t size);
    string hex();

  private:
    void mix(const u8* block);
    std::uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    u8 block_[64];
    size_t fill_ = 0;
    std::uint64_t total_ = 0;
};

}  // namespace ptcheck
