// Reading and writing checkpoints; see proof/checkpoint.hpp.
#include "proof/checkpoint.hpp"

#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "loss/measure.hpp"
#include "proof/records.hpp"
#include "run/context.hpp"

namespace provetree {

namespace {

constexpr const char* kTitle = "provetree-checkpoint-2";
constexpr const char* kFirstTitle = "provetree-checkpoint-1";  // the root alone, and no more than bounds of it

// FNV-1a
std::uint64_t sum_of(const void* data, std::size_t bytes, std::uint64_t sum = 0xcbf29ce484222325ull) {
    const unsigned char* at = static_cast<const unsigned char*>(data);
    for (std::size_t i = 0; i < bytes; ++i) sum = (sum ^ at[i]) * 0x100000001b3ull;
    return sum;
}

void list_node(auto& archive, auto& node) {
    archive.count(node.path);
    for (auto& step : node.path) archive(step.split, step.right);
    archive.end_line();
    archive(node.shape, node.rows, node.weight, node.best.left_splits, node.by_tie_rule);
    archive.costs(node.best.upper, node.cut, node.lower, node.relaxed);
    archive(node.best.plan);
    archive.end_line();
    archive.count(node.tried);
    for (auto& split : node.tried) archive(split);
    archive.end_line();
    archive.count(node.points, '\n');
    for (auto& point : node.points) {
        archive(point.split, point.left, point.right, point.settled);
        if (point.settled) {
            archive.costs(point.left_upper, point.right_upper);
            archive(point.whole, point.of_left, point.of_right);
        }
        archive.end_line();
    }
}

// Rows four by four as hexadecimal digits.
void list_sample(Writer& writer, const std::vector<std::uint8_t>& sample) {
    writer.count(sample);
    for (std::size_t i = 0; i < sample.size(); i += 4) {
        unsigned digit = 0;
        for (std::size_t k = 0; k < 4 && i + k < sample.size(); ++k)
            digit |= static_cast<unsigned>(sample[i + k] != 0) << k;
        writer.text += "0123456789abcdef"[digit];
    }
    writer.end_line();
}

void list_sample(Reader& reader, std::vector<std::uint8_t>& sample) {
    sample.resize(reader.number_up_to(4 * reader.most));
    if (sample.empty()) return;
    const std::string_view digits = reader.word();
    if (digits.size() != (sample.size() + 3) / 4) throw std::ios_base::failure("sample");
    for (std::size_t i = 0; i < sample.size(); ++i) {
        const char c = digits[i / 4];
        sample[i] = (static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10) >> (i % 4)) & 1u;
    }
}

void list_checkpoint(auto& archive, auto& checkpoint) {
    archive(checkpoint.bound, checkpoint.steps);
    list_sample(archive, checkpoint.sample);
    list_node(archive, checkpoint.root);
    archive.count(checkpoint.below, '\n');
    for (auto& node : checkpoint.below) list_node(archive, node);
    archive.count(checkpoint.sets, '\n');
    for (auto& set : checkpoint.sets) {
        archive(set.low, set.high, set.depth, set.splits, set.lower);
        archive.costs(set.upper);
        archive(set.plan);
        archive.end_line();
    }
}

void read_first_version(Reader& reader, Checkpoint& checkpoint) {
    checkpoint.first_version = true;
    reader(checkpoint.root.best.upper, checkpoint.root.best.plan);
    reader.count(checkpoint.root.points);
    for (KnownNode::Point& point : checkpoint.root.points) reader(point.split, point.left, point.right);
}

// Whether the sweeps know all kinds of nodes of a plan: bottoms are solved on bits.
bool has_bottoms(const PlanPtr& plan) {
    return plan && (plan->bottom_splits > 0 || has_bottoms(plan->left) || has_bottoms(plan->right));
}

}  // namespace

Checkpoint checkpoint_of(const Context& context) {
    Checkpoint checkpoint;
    checkpoint.bound = context.found.bound;
    checkpoint.steps = context.all_steps();
    return checkpoint;
}

bool Checkpoint::by_bits() const {
    const bool bounds_only = first_version && !has_bottoms(root.best.plan);
    return !by_sweeps() && !bounds_only && (!root.points.empty() || !sets.empty() || has_bottoms(root.best.plan));
}

void Checkpoint::forget_method() {
    const Incumbent best = has_bottoms(root.best.plan) ? Incumbent{} : root.best;
    root = {};
    root.best = best;
    below.clear();
    sets.clear();
    sample.clear();
}

std::uint64_t fingerprint_of(const Table& table, int max_depth, std::int64_t max_splits, std::int64_t min_leaf,
                             const Loss& loss) {
    const std::int64_t numbers[] = {table.rows, table.columns, table.n_classes,  max_depth,
                                    max_splits, min_leaf,      loss.error_scale, loss.split_penalty};
    const std::size_t rows = table.rows;
    std::uint64_t sum = sum_of(numbers, sizeof numbers);
    sum = sum_of(table.ranks, rows * table.columns * sizeof(Index), sum);
    sum = sum_of(table.classes, rows * sizeof(std::int32_t), sum);
    sum = sum_of(table.weights, rows * sizeof(std::int64_t), sum);
    sum = sum_of(table.counts, rows * sizeof(std::int64_t), sum);
    return table.measure ? table.measure->fingerprint(sum) : sum;
}

CheckpointFile::CheckpointFile(std::string path, std::uint64_t fingerprint, double seconds_between)
    : path_(std::move(path)), fingerprint_(fingerprint),
      between_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds_between))),
      next_(Clock::now() + between_) {}

std::invalid_argument CheckpointFile::damaged() const {
    return std::invalid_argument("The checkpoint file '" + path_ +
                                 "' is damaged or no checkpoint. Remove it, or name another file.");
}

std::optional<Checkpoint> CheckpointFile::read(ByteCount& held) const {
    std::ifstream file(path_, std::ios::binary);
    if (!file) {
        if (std::filesystem::exists(path_))
            throw std::invalid_argument("The checkpoint file '" + path_ + "' cannot be read.");
        return std::nullopt;
    }
    std::string title;
    std::uint64_t fingerprint = 0, sum = 0;
    file >> title >> fingerprint >> sum;
    file.get();  // the end of the line
    const std::string body{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if ((title != kTitle && title != kFirstTitle) || sum != sum_of(body.data(), body.size())) throw damaged();
    if (fingerprint != fingerprint_)
        throw std::invalid_argument("The checkpoint file '" + path_ +
                                    "' belongs to another table or other limits. Remove it, or name another file.");
    try {
        Reader reader(body, held);
        Checkpoint checkpoint;
        if (title == kFirstTitle)
            read_first_version(reader, checkpoint);
        else
            list_checkpoint(reader, checkpoint);
        return checkpoint;
    } catch (const std::ios_base::failure&) {
        throw damaged();
    }
}

void CheckpointFile::write(const Checkpoint& checkpoint) {
    Writer body;
    list_checkpoint(body, checkpoint);
    const std::string beside = path_ + ".part";
    {
        std::ofstream file(beside, std::ios::binary | std::ios::trunc);
        file << kTitle << ' ' << fingerprint_ << ' ' << sum_of(body.text.data(), body.text.size()) << '\n' << body.text;
        file.flush();
        if (!file) throw std::invalid_argument("The checkpoint file '" + path_ + "' cannot be written.");
    }
    std::filesystem::rename(beside, path_);
    next_ = Clock::now() + between_;
}

void CheckpointFile::remove() const {
    std::error_code ignored;  // gone already, or not ours to remove: the answer stands all the same
    std::filesystem::remove(path_, ignored);
}

}  // namespace provetree
