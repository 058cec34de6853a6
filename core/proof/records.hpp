// How plans, splits and profiles are written as text and read again, for checkpoint files and for tasks. What has the
// same fields both ways is listed once, by a `list` that takes a Writer and the thing, or a Reader and the thing.
#pragma once

#include <charconv>
#include <concepts>
#include <ios>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>

#include "base/byte_count.hpp"
#include "sweeps/profile.hpp"
#include "tree/outcome.hpp"

namespace provetree {

// Each number with a space after it: some hundred thousand of them, several times faster than a stream.
struct Writer {
    std::string text;

    template <class... Things>
    void operator()(const Things&... things) {
        (put(things), ...);
    }
    // Infinite costs are -1.
    void costs(std::same_as<Cost> auto... all) { (put(all >= kInfinite ? -1 : all), ...); }
    void count(const auto& things, char end = ' ') {
        put(things.size());
        text.back() = end;
    }
    void end_line() { text += '\n'; }

  private:
    template <class Thing>
    void put(const Thing& thing) {
        if constexpr (std::is_same_v<Thing, bool>) {
            text += thing ? "1 " : "0 ";
        } else if constexpr (std::is_arithmetic_v<Thing>) {
            char digits[24];
            text.append(digits, std::to_chars(digits, digits + sizeof digits, thing).ptr) += ' ';
        } else {
            list(*this, thing);
        }
    }
};

// Throws std::ios_base::failure where the text is not what was written. Profiles are counted in `held`. The text has to
// outlive it.
struct Reader {
    Reader(const std::string& text, ByteCount& counted_in)
        : most(text.size()), held(counted_in), at_(text.data()), end_(text.data() + text.size()) {}

    std::size_t most;  // of things that the text can hold
    ByteCount& held;

    template <class... Things>
    void operator()(Things&... things) {
        (get(things), ...);
    }
    void costs(std::same_as<Cost> auto&... all) {
        (get(all), ...);
        ((all = all < 0 ? kInfinite : all), ...);
    }
    std::size_t number_up_to(std::size_t largest) {
        std::size_t number = 0;
        get(number);
        if (number > largest) throw std::ios_base::failure("count");
        return number;
    }
    // What is up to the next space.
    std::string_view word() {
        skip_spaces();
        const char* const begin = at_;
        while (at_ != end_ && !is_space(*at_)) ++at_;
        if (begin == at_) throw std::ios_base::failure("word");
        return {begin, static_cast<std::size_t>(at_ - begin)};
    }
    void count(auto& things, char = ' ') { things.resize(number_up_to(most)); }
    void end_line() {}

  private:
    static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r'; }
    void skip_spaces() {
        while (at_ != end_ && is_space(*at_)) ++at_;
    }
    template <class Thing>
    void get(Thing& thing) {
        if constexpr (std::is_same_v<Thing, bool>) {
            thing = number_up_to(1) == 1;
        } else if constexpr (std::is_integral_v<Thing>) {
            skip_spaces();
            const auto [end, error] = std::from_chars(at_, end_, thing);
            if (error != std::errc{}) throw std::ios_base::failure("number");
            at_ = end;
        } else {
            list(*this, thing);
        }
    }

    const char* at_;
    const char* end_;
};

template <class Thing, class Of>
concept Is = std::same_as<std::remove_const_t<Thing>, Of>;

// A profile is without those of its own sides. Null is a plan and a profile, too.
void list(Writer& writer, const PlanPtr& plan);
void list(Reader& reader, PlanPtr& plan);
void list(Writer& writer, const ProfilePtr& profile);
void list(Reader& reader, ProfilePtr& profile);
void list(auto& archive, Is<SplitName> auto& split) { archive(split.column, split.left_splits, split.rank); }
void list(auto& archive, Is<Shape> auto& shape) { archive(shape.depth, shape.splits); }

}  // namespace provetree
