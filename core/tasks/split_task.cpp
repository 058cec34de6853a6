// Tasks and answers as text; see tasks/split_task.hpp.
#include "tasks/split_task.hpp"

#include <stdexcept>

#include "proof/records.hpp"

namespace provetree {

namespace {

void list_incumbent(auto& archive, auto& best) {
    archive.costs(best.upper);
    archive(best.left_splits, best.plan);
}

void list_outcome(auto& archive, auto& outcome) {
    list_incumbent(archive, outcome);
    archive.costs(outcome.lower, outcome.relaxed);
    archive(outcome.profile);
}

void list_fields(auto& archive, Is<SplitTask> auto& task) {
    archive(task.number, task.split, task.left, task.right);
    archive.costs(task.bound, task.cut, task.least_left, task.least_right, task.slack, task.most_left, task.most_right);
    archive(task.inner_left, task.outer_left, task.inner_right, task.outer_right, task.sample, task.sample_weight);
}

void list_fields(auto& archive, Is<SplitAnswer> auto& answer) {
    list_outcome(archive, answer.left);
    list_outcome(archive, answer.right);
    archive(answer.least_left, answer.least_right);
    list_incumbent(archive, answer.best);
}

template <class Thing>
std::string packed(const char* kind, const Thing& thing) {
    Writer writer;
    writer.text = kind + std::string(" ");
    list_fields(writer, thing);
    return std::move(writer.text);
}

template <class Thing>
Thing unpacked(const char* kind, const std::string& text, ByteCount& held) {
    const auto damaged = [&] { return std::invalid_argument(std::string("This is no ") + kind + " of a search."); };
    try {
        Reader reader(text, held);
        std::string word;
        reader.in >> word;
        if (word != kind) throw damaged();
        Thing thing;
        list_fields(reader, thing);
        if (!reader.in) throw damaged();
        return thing;
    } catch (const std::ios_base::failure&) {
        throw damaged();
    }
}

}  // namespace

std::string pack(const SplitTask& task) { return packed("task", task); }
std::string pack(const SplitAnswer& answer) { return packed("answer", answer); }

SplitTask unpack_task(const std::string& text, ByteCount& held) { return unpacked<SplitTask>("task", text, held); }
SplitAnswer unpack_answer(const std::string& text, ByteCount& held) {
    return unpacked<SplitAnswer>("answer", text, held);
}

}  // namespace provetree
