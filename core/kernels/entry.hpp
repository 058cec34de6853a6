// One entry of a node's sorted order: the row, its class (as far as three bits hold it) and the flag that tells a sweep
// where to look.
#pragma once

#include <cstdint>

namespace provetree::entry {

// Layout of a 32-bit entry: bits 0-27 row, bit 28 "check here", bits 29-31 class code.
inline constexpr std::uint32_t kRowMask = (1u << 28) - 1;
inline constexpr std::uint32_t kCheck = 1u << 28;
inline constexpr int kClassShift = 29;
inline constexpr std::uint32_t kClassMask = 7u << kClassShift;

// Classes 0 to 6 have a code of their own; all others share code 7, which never counts as equal to itself.
inline constexpr std::uint32_t kSharedCode = 7;

inline constexpr std::uint32_t class_code(std::uint32_t cls) { return cls < kSharedCode ? cls : kSharedCode; }

}  // namespace provetree::entry
