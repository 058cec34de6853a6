// A vector whose new elements are not set to anything: for large arrays of which every element is written anyway.
#pragma once

#include <memory>
#include <utility>
#include <vector>

namespace provetree {

template <class T>
struct RawAllocator : std::allocator<T> {
    template <class U>
    struct rebind {
        using other = RawAllocator<U>;
    };
    template <class U>
    void construct(U* place) {
        ::new (static_cast<void*>(place)) U;
    }
    template <class U, class... Args>
    void construct(U* place, Args&&... args) {
        ::new (static_cast<void*>(place)) U(std::forward<Args>(args)...);
    }
};

template <class T>
using RawVector = std::vector<T, RawAllocator<T>>;

}  // namespace provetree
