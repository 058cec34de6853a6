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

void list_word(Writer& writer, const std::shared_ptr<const std::string>& word) {
    writer.text += word ? *word : "-";
    writer.text += ' ';
}
void list_word(Reader& reader, std::shared_ptr<const std::string>& word) {
    const std::string_view read = reader.word();
    word = read == "-" ? nullptr : std::make_shared<const std::string>(read);
}

void list_path(auto& archive, auto& path) {
    archive.count(path);
    for (auto& step : path) archive(step.split, step.right);
}

void list_fields(auto& archive, Is<SplitTask> auto& task) {
    archive(task.number, task.split, task.left, task.right);
    archive.costs(task.bound, task.cut, task.least_left, task.least_right, task.slack, task.most_left, task.most_right);
    archive(task.inner_left, task.outer_left, task.inner_right, task.outer_right, task.sample, task.sample_weight);
    list_path(archive, task.path);
    list_word(archive, task.sample_rows);
}

void list_fields(auto& archive, Is<SplitAnswer> auto& answer) {
    list_outcome(archive, answer.left);
    list_outcome(archive, answer.right);
    archive(answer.least_left, answer.least_right);
    list_incumbent(archive, answer.best);
    archive(answer.left_open, answer.right_open, answer.done.nodes, answer.done.intervals, answer.done.depth_two_solves,
            answer.done.panels, answer.done.lanes, answer.done.row_steps, answer.steps);
}

void list_fields(auto& archive, Is<Job> auto& job) {
    archive(job.loss.error_scale, job.loss.split_penalty, job.loss.unit_scale, job.min_leaf, job.switches,
            job.remembers_sets);
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
        if (reader.word() != kind) throw damaged();
        Thing thing;
        list_fields(reader, thing);
        return thing;
    } catch (const std::ios_base::failure&) {
        throw damaged();
    }
}

}  // namespace

std::string pack(const SplitTask& task) { return packed("task", task); }
std::string pack(const SplitAnswer& answer) { return packed("answer", answer); }
std::string pack(const Job& job) { return packed("job", job); }

SplitTask unpack_task(const std::string& text, ByteCount& held) { return unpacked<SplitTask>("task", text, held); }
SplitAnswer unpack_answer(const std::string& text, ByteCount& held) {
    return unpacked<SplitAnswer>("answer", text, held);
}

Job unpack_job(const std::string& text) {
    ByteCount nothing;
    return unpacked<Job>("job", text, nothing);
}

std::string letters_of(const std::vector<std::uint8_t>& marked) {
    std::string letters((marked.size() + 3) / 4, 'a');
    for (std::size_t row = 0; row < marked.size(); ++row)
        if (marked[row]) letters[row / 4] = static_cast<char>(letters[row / 4] + (1 << row % 4));
    return letters;
}

std::vector<std::uint8_t> rows_of_letters(const std::string& letters, Index rows) {
    if (letters.size() != (std::size_t{rows} + 3) / 4) throw std::invalid_argument("A sample is of another table.");
    std::vector<std::uint8_t> marked(rows, 0);
    for (Index row = 0; row < rows; ++row) marked[row] = (letters[row / 4] - 'a') >> row % 4 & 1;
    return marked;
}

}  // namespace provetree
