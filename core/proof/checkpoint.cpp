// Reading and writing checkpoints; see proof/checkpoint.hpp.
#include "proof/checkpoint.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "proof/records.hpp"
#include "run/context.hpp"

namespace provetree {

namespace {

constexpr const char* kTitle = "provetree-checkpoint-2";
constexpr const char* kFirstTitle = "provetree-checkpoint-1";  // the root alone, and no more than bounds of it

// FNV-1a
class Sum {
  public:
    void add(const void* data, std::size_t bytes) {
        const unsigned char* at = static_cast<const unsigned char*>(data);
        for (std::size_t i = 0; i < bytes; ++i) value_ = (value_ ^ at[i]) * 0x100000001b3ull;
    }
    template <class T>
    void add(T number) {
        const std::int64_t wide = static_cast<std::int64_t>(number);
        add(&wide, sizeof wide);
    }
    std::uint64_t value() const { return value_; }

  private:
    std::uint64_t value_ = 0xcbf29ce484222325ull;
};

std::uint64_t sum_of(const std::string& text) {
    Sum sum;
    sum.add(text.data(), text.size());
    return sum.value();
}

void write_node(Text& out, const KnownNode& node) {
    out << node.path.size() << ' ';
    for (const KnownNode::Step& step : node.path) {
        write_split(out, step.split);
        out << step.right << ' ';
    }
    out << '\n'
        << node.shape.depth << ' ' << node.shape.splits << ' ' << node.rows << ' ' << node.weight << ' '
        << node.best.left_splits << ' ' << node.by_tie_rule << ' ';
    for (Cost cost : {node.best.upper, node.cut, node.lower, node.relaxed}) write_cost(out, cost);
    write_plan(out, node.best.plan);
    out << '\n' << node.tried.size() << ' ';
    for (const SplitName& split : node.tried) write_split(out, split);
    out << '\n' << node.points.size() << '\n';
    for (const KnownNode::Point& point : node.points) {
        write_split(out, point.split);
        out << point.left << ' ' << point.right << ' ' << point.settled << ' ';
        if (point.settled) {
            write_cost(out, point.left_upper);
            write_cost(out, point.right_upper);
            out << point.whole << ' ';
            write_profile(out, point.of_left);
            write_profile(out, point.of_right);
        }
        out << '\n';
    }
}

KnownNode read_node(std::istream& in, std::size_t most, ByteCount& held) {
    KnownNode node;
    node.path.resize(read_count(in, most));
    for (KnownNode::Step& step : node.path) {
        step.split = read_split(in);
        in >> step.right;
    }
    in >> node.shape.depth >> node.shape.splits >> node.rows >> node.weight >> node.best.left_splits >>
        node.by_tie_rule;
    for (Cost* cost : {&node.best.upper, &node.cut, &node.lower, &node.relaxed}) *cost = read_cost(in);
    node.best.plan = read_plan(in);
    node.tried.resize(read_count(in, most));
    for (SplitName& split : node.tried) split = read_split(in);
    node.points.resize(read_count(in, most));
    for (KnownNode::Point& point : node.points) {
        point.split = read_split(in);
        in >> point.left >> point.right >> point.settled;
        if (!point.settled) continue;
        point.left_upper = read_cost(in);
        point.right_upper = read_cost(in);
        in >> point.whole;
        point.of_left = read_profile(in, most, held);
        point.of_right = read_profile(in, most, held);
    }
    return node;
}

// Rows four by four as hexadecimal digits.
void write_sample(Text& out, const std::vector<std::uint8_t>& sample) {
    out << sample.size() << ' ';
    for (std::size_t i = 0; i < sample.size(); i += 4) {
        unsigned digit = 0;
        for (std::size_t k = 0; k < 4 && i + k < sample.size(); ++k)
            digit |= static_cast<unsigned>(sample[i + k] != 0) << k;
        out << "0123456789abcdef"[digit];
    }
    out << '\n';
}

std::vector<std::uint8_t> read_sample(std::istream& in, std::size_t most) {
    std::vector<std::uint8_t> sample(read_count(in, 4 * most));
    if (sample.empty()) return sample;
    std::string digits;
    in >> digits;
    if (digits.size() != (sample.size() + 3) / 4) throw std::ios_base::failure("sample");
    for (std::size_t i = 0; i < sample.size(); ++i) {
        const char c = digits[i / 4];
        sample[i] = (static_cast<unsigned>(c <= '9' ? c - '0' : c - 'a' + 10) >> (i % 4)) & 1u;
    }
    return sample;
}

Checkpoint read_first_version(std::istream& in, std::size_t most) {
    Checkpoint checkpoint;
    checkpoint.first_version = true;
    in >> checkpoint.root.best.upper;
    checkpoint.root.best.plan = read_plan(in);
    checkpoint.root.points.resize(read_count(in, most));
    for (KnownNode::Point& point : checkpoint.root.points) {
        point.split = read_split(in);
        in >> point.left >> point.right;
    }
    return checkpoint;
}

Checkpoint read_body(const std::string& body, bool first_version, ByteCount& held) {
    std::istringstream in(body);
    Checkpoint checkpoint;
    if (first_version) {
        checkpoint = read_first_version(in, body.size());
    } else {
        in >> checkpoint.bound >> checkpoint.steps;
        checkpoint.sample = read_sample(in, body.size());
        checkpoint.root = read_node(in, body.size(), held);
        checkpoint.below.resize(read_count(in, body.size()));
        for (KnownNode& node : checkpoint.below) node = read_node(in, body.size(), held);
        checkpoint.sets.resize(read_count(in, body.size()));
        for (KnownSet& set : checkpoint.sets) {
            in >> set.low >> set.high >> set.depth >> set.splits >> set.lower;
            set.upper = read_cost(in);
            set.plan = read_plan(in);
        }
    }
    if (!in) throw std::ios_base::failure("end");
    return checkpoint;
}

}  // namespace

Checkpoint checkpoint_of(const Context& context) {
    Checkpoint checkpoint;
    checkpoint.bound = context.found.bound;
    checkpoint.steps = context.all_steps();
    return checkpoint;
}

namespace {

// Whether the sweeps know all kinds of nodes of a plan: bottoms are solved on bits.
bool has_bottoms(const PlanPtr& plan) {
    return plan && (plan->bottom_splits > 0 || has_bottoms(plan->left) || has_bottoms(plan->right));
}

}  // namespace

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
    Sum sum;
    for (std::int64_t number : {std::int64_t{table.rows}, std::int64_t{table.columns}, std::int64_t{table.n_classes},
                                std::int64_t{max_depth}, max_splits, min_leaf, loss.error_scale, loss.split_penalty})
        sum.add(number);
    const std::size_t rows = table.rows;
    sum.add(table.ranks, rows * table.columns * sizeof(Index));
    sum.add(table.classes, rows * sizeof(std::int32_t));
    sum.add(table.weights, rows * sizeof(std::int64_t));
    sum.add(table.counts, rows * sizeof(std::int64_t));
    return sum.value();
}

CheckpointFile::CheckpointFile(std::string path, std::uint64_t fingerprint, double seconds_between)
    : path_(std::move(path)),
      fingerprint_(fingerprint),
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
    if ((title != kTitle && title != kFirstTitle) || sum != sum_of(body)) throw damaged();
    if (fingerprint != fingerprint_)
        throw std::invalid_argument("The checkpoint file '" + path_ +
                                    "' belongs to another table or other limits. Remove it, or name another file.");
    try {
        return read_body(body, title == kFirstTitle, held);
    } catch (const std::ios_base::failure&) {
        throw damaged();
    }
}

void CheckpointFile::write(const Checkpoint& checkpoint) {
    Text body;
    body << checkpoint.bound << ' ' << checkpoint.steps << ' ';
    write_sample(body, checkpoint.sample);
    write_node(body, checkpoint.root);
    body << checkpoint.below.size() << '\n';
    for (const KnownNode& node : checkpoint.below) write_node(body, node);
    body << checkpoint.sets.size() << '\n';
    for (const KnownSet& set : checkpoint.sets) {
        body << set.low << ' ' << set.high << ' ' << set.depth << ' ' << set.splits << ' ' << set.lower << ' ';
        write_cost(body, set.upper);
        write_plan(body, set.plan);
        body << '\n';
    }
    const std::string text = std::move(body.text), beside = path_ + ".part";
    {
        std::ofstream file(beside, std::ios::binary | std::ios::trunc);
        file << kTitle << ' ' << fingerprint_ << ' ' << sum_of(text) << '\n' << text;
        file.flush();
        if (!file) throw std::invalid_argument("The checkpoint file '" + path_ + "' cannot be written.");
    }
    std::filesystem::rename(beside, path_);
    next_ = Clock::now() + between_;
}

void CheckpointFile::remove() const {
    std::error_code
        ignored;  // gone already, or in a folder that nothing can be removed from: the answer stands all the same
    std::filesystem::remove(path_, ignored);
}

}  // namespace provetree
