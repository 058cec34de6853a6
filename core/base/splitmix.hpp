// The finaliser of splitmix64: well-mixed numbers from numbers in any order.
#pragma once

#include <cstdint>

namespace provetree {

inline std::uint64_t splitmix(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
    return x ^ (x >> 31);
}

// By this much the state of a sequence of such numbers grows.
inline constexpr std::uint64_t kSplitmixStep = 0x9e3779b97f4a7c15ULL;

}  // namespace provetree
