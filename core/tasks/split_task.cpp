// Tasks and answers as text; see tasks/split_task.hpp.
#include "tasks/split_task.hpp"

#include <array>
#include <sstream>
#include <stdexcept>

#include "proof/records.hpp"

namespace provetree {

namespace {

void write_outcome(Text& out, const Outcome& outcome) {
    write_incumbent(out, outcome);
    write_cost(out, outcome.lower);
    write_cost(out, outcome.relaxed);
    write_profile(out, outcome.profile);
}

Outcome read_outcome(std::istream& in, std::size_t most, ByteCount& held) {
    Outcome outcome;
    outcome.take(read_incumbent(in));
    outcome.lower = read_cost(in);
    outcome.relaxed = read_cost(in);
    outcome.profile = read_profile(in, most, held);
    return outcome;
}

// What `read` makes of the whole text.
template <class Read>
auto unpacked(const std::string& text, const char* kind, const Read& read) {
    std::istringstream in(text);
    const auto damaged = [&] { return std::invalid_argument(std::string("This is no ") + kind + " of a search."); };
    try {
        std::string word;
        in >> word;
        if (word != kind) throw damaged();
        auto made = read(in);
        if (!in) throw damaged();
        return made;
    } catch (const std::ios_base::failure&) {
        throw damaged();
    }
}

// The numbers and the profiles of a task in the order in which they stand in the text.
auto costs_of(auto& task) {
    return std::array{&task.bound, &task.cut,       &task.least_left, &task.least_right,
                      &task.slack, &task.most_left, &task.most_right};
}
auto profiles_of(auto& task) {
    return std::array{&task.inner_left, &task.outer_left, &task.inner_right, &task.outer_right};
}

}  // namespace

std::string pack(const SplitTask& task) {
    Text out;
    out << "task " << task.number << ' ';
    write_split(out, task.split);
    write_shape(out, task.left);
    write_shape(out, task.right);
    for (const Cost* cost : costs_of(task)) write_cost(out, *cost);
    for (const ProfilePtr* profile : profiles_of(task)) write_profile(out, *profile);
    out << task.sample << ' ' << task.sample_weight;
    return std::move(out.text);
}

SplitTask unpack_task(const std::string& text, ByteCount& held) {
    return unpacked(text, "task", [&](std::istream& in) {
        SplitTask task;
        in >> task.number;
        task.split = read_split(in);
        task.left = read_shape(in);
        task.right = read_shape(in);
        for (Cost* cost : costs_of(task)) *cost = read_cost(in);
        for (ProfilePtr* profile : profiles_of(task)) *profile = read_profile(in, text.size(), held);
        in >> task.sample >> task.sample_weight;
        return task;
    });
}

std::string pack(const SplitAnswer& answer) {
    Text out;
    out << "answer ";
    write_outcome(out, answer.left);
    write_outcome(out, answer.right);
    out << answer.least_left << ' ' << answer.least_right << ' ';
    write_incumbent(out, answer.best);
    return std::move(out.text);
}

SplitAnswer unpack_answer(const std::string& text, ByteCount& held) {
    return unpacked(text, "answer", [&](std::istream& in) {
        SplitAnswer answer;
        answer.left = read_outcome(in, text.size(), held);
        answer.right = read_outcome(in, text.size(), held);
        in >> answer.least_left >> answer.least_right;
        answer.best = read_incumbent(in);
        return answer;
    });
}

}  // namespace provetree
