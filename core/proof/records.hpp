// How plans, splits and profiles are written as text and read again: for checkpoint files and for tasks.
#pragma once

#include <charconv>
#include <istream>
#include <string>
#include <type_traits>

#include "base/byte_count.hpp"
#include "sweeps/profile.hpp"
#include "tree/outcome.hpp"

namespace provetree {

// Numbers and words one after the other: some hundred thousand of them, several times faster than a stream.
struct Text {
    std::string text;

    Text& operator<<(char c) {
        text += c;
        return *this;
    }
    Text& operator<<(const char* word) {
        text += word;
        return *this;
    }
    template <class Number>
    Text& operator<<(Number number) {
        char digits[24];
        if constexpr (std::is_same_v<Number, bool>)
            text += number ? '1' : '0';
        else
            text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
        return *this;
    }
};

// What is read throws std::ios_base::failure where it is not what was written.
void write_plan(Text& out, const PlanPtr& plan);
PlanPtr read_plan(std::istream& in);

// Infinite costs are -1.
void write_cost(Text& out, Cost cost);
Cost read_cost(std::istream& in);

void write_split(Text& out, const SplitName& split);
SplitName read_split(std::istream& in);

void write_shape(Text& out, Shape shape);
Shape read_shape(std::istream& in);

void write_incumbent(Text& out, const Incumbent& incumbent);
Incumbent read_incumbent(std::istream& in);

// A number of things, at most so many.
std::size_t read_count(std::istream& in, std::size_t most);

// A profile without those of its own sides; null is a profile, too. What is read is counted in `held`.
void write_profile(Text& out, const ProfilePtr& profile);
ProfilePtr read_profile(std::istream& in, std::size_t most, ByteCount& held);

}  // namespace provetree
