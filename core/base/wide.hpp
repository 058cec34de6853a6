// Whole numbers of 128 bits: sums of squares of targets, exactly.
#pragma once

namespace provetree {

__extension__ typedef unsigned __int128 Wide;

// The square of a sum that fits in 64 bits.
inline Wide square_of(long long number) {
    const Wide size = static_cast<Wide>(number < 0 ? -static_cast<unsigned long long>(number)
                                                   : static_cast<unsigned long long>(number));
    return size * size;
}

}  // namespace provetree
