// A number of bytes that several threads change: what the profiles of one search hold together.
#pragma once

#include <atomic>
#include <cstdint>

namespace provetree {

class ByteCount {
  public:
    ByteCount() = default;
    ByteCount(const ByteCount& other) : bytes_(other.bytes_.load()) {}
    ByteCount& operator=(const ByteCount& other) {
        bytes_ = other.bytes_.load();
        return *this;
    }
    operator std::uint64_t() const { return bytes_.load(std::memory_order_relaxed); }
    void operator+=(std::uint64_t more) { bytes_.fetch_add(more, std::memory_order_relaxed); }
    void operator-=(std::uint64_t less) { bytes_.fetch_sub(less, std::memory_order_relaxed); }

  private:
    std::atomic<std::uint64_t> bytes_{0};
};

}  // namespace provetree
