// Reading and writing checkpoints; see checkpoint.hpp.
#include "checkpoint.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace provetree {

namespace {

constexpr const char* kTitle = "provetree-checkpoint-1";
constexpr int kDeepest = 4096;  // no tree is deeper; a damaged file might seem so

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

void write_plan(std::ostream& out, const PlanPtr& plan) {
    if (!plan) {
        out << "leaf ";
    } else if (plan->stump) {
        out << "stump ";
    } else if (plan->bottom_splits) {
        out << "bottom " << plan->bottom_splits << ' ';
    } else {
        out << "split " << plan->column << ' ' << plan->rank << ' ';
        write_plan(out, plan->left);
        write_plan(out, plan->right);
    }
}

PlanPtr read_plan(std::istream& in, int depth) {
    std::string kind;
    if (!(in >> kind) || depth > kDeepest) throw std::ios_base::failure("plan");
    if (kind == "leaf") return nullptr;
    if (kind == "stump") return stump_plan();
    if (kind == "bottom") {
        int splits = 0;
        in >> splits;
        return bottom_plan(splits);
    }
    Index column = 0, rank = 0;
    if (kind != "split" || !(in >> column >> rank)) throw std::ios_base::failure("plan");
    PlanPtr left = read_plan(in, depth + 1), right = read_plan(in, depth + 1);
    return split_plan(column, rank, std::move(left), std::move(right));
}

}  // namespace

std::uint64_t fingerprint_of(const Table& table, int max_depth, std::int64_t max_splits, std::int64_t min_leaf, const Objective& objective) {
    Sum sum;
    for (std::int64_t number : {std::int64_t{table.rows}, std::int64_t{table.columns}, std::int64_t{table.n_classes}, std::int64_t{max_depth}, max_splits,
                                min_leaf, objective.error_scale, objective.split_penalty})
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

std::optional<Checkpoint> CheckpointFile::read() const {
    std::ifstream file(path_, std::ios::binary);
    if (!file) {
        if (std::filesystem::exists(path_)) throw std::invalid_argument("The checkpoint file '" + path_ + "' cannot be read.");
        return std::nullopt;
    }
    std::string title;
    std::uint64_t fingerprint = 0, sum = 0;
    file >> title >> fingerprint >> sum;
    file.get();  // the end of the line
    const std::string body{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    if (title != kTitle || sum != sum_of(body))
        throw std::invalid_argument("The checkpoint file '" + path_ + "' is damaged or no checkpoint. Remove it, or name another file.");
    if (fingerprint != fingerprint_)
        throw std::invalid_argument("The checkpoint file '" + path_ + "' belongs to another table or other limits. Remove it, or name another file.");
    std::istringstream in(body);
    Checkpoint checkpoint;
    std::size_t count = 0;
    in >> checkpoint.upper;
    checkpoint.plan = read_plan(in, 0);
    in >> count;
    checkpoint.points.resize(count);
    for (Checkpoint::Point& point : checkpoint.points) in >> point.column >> point.left_splits >> point.rank >> point.left >> point.right;
    return checkpoint;
}

void CheckpointFile::write(const Checkpoint& checkpoint) {
    std::ostringstream body;
    body << checkpoint.upper << '\n';
    write_plan(body, checkpoint.plan);
    body << '\n' << checkpoint.points.size() << '\n';
    for (const Checkpoint::Point& point : checkpoint.points)
        body << point.column << ' ' << point.left_splits << ' ' << point.rank << ' ' << point.left << ' ' << point.right << '\n';
    const std::string text = body.str(), beside = path_ + ".part";
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
    std::error_code ignored;  // gone already, or in a folder that nothing can be removed from: the answer stands all the same
    std::filesystem::remove(path_, ignored);
}

}  // namespace provetree
