// The named switches of a search as a dict for Python: name to bit.
#pragma once

#include <cstddef>

#include "python/bindings.hpp"
#include "run/context.hpp"

namespace provetree {

template <std::size_t n>
nb::dict bits_of(const NamedSwitch (&switches)[n]) {
    nb::dict bits;
    for (const NamedSwitch& one : switches) bits[one.name] = static_cast<unsigned>(one.bit);
    return bits;
}

}  // namespace provetree
