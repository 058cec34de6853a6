// Plans, splits and profiles as text; see proof/records.hpp.
#include "proof/records.hpp"

namespace provetree {

void write_plan(Text& out, const PlanPtr& plan) {
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

namespace {

constexpr int kDeepest = 4096;  // no tree is deeper; a damaged file might seem so

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

PlanPtr read_plan(std::istream& in) { return read_plan(in, 0); }

void write_cost(Text& out, Cost cost) { out << (cost >= kInfinite ? -1 : cost) << ' '; }

Cost read_cost(std::istream& in) {
    Cost cost = 0;
    in >> cost;
    return cost < 0 ? kInfinite : cost;
}

void write_split(Text& out, const SplitName& split) {
    out << split.column << ' ' << split.left_splits << ' ' << split.rank << ' ';
}

SplitName read_split(std::istream& in) {
    SplitName split;
    in >> split.column >> split.left_splits >> split.rank;
    return split;
}

void write_shape(Text& out, Shape shape) { out << shape.depth << ' ' << shape.splits << ' '; }

Shape read_shape(std::istream& in) {
    Shape shape;
    in >> shape.depth >> shape.splits;
    return shape;
}

void write_incumbent(Text& out, const Incumbent& incumbent) {
    write_cost(out, incumbent.upper);
    out << incumbent.left_splits << ' ';
    write_plan(out, incumbent.plan);
}

Incumbent read_incumbent(std::istream& in) {
    Incumbent incumbent;
    incumbent.upper = read_cost(in);
    in >> incumbent.left_splits;
    incumbent.plan = read_plan(in);
    return incumbent;
}

std::size_t read_count(std::istream& in, std::size_t most) {
    std::size_t count = 0;
    if (!(in >> count) || count > most) throw std::ios_base::failure("count");
    return count;
}

void write_profile(Text& out, const ProfilePtr& profile) {
    if (!profile) {
        out << "0 ";
        return;
    }
    out << "1 " << profile->shape.depth << ' ' << profile->shape.splits << ' ' << profile->rows << ' '
        << profile->weight << ' ' << profile->panel.size() << ' ';
    for (const PanelColumn& column : profile->panel) {
        out << column.id << ' ' << column.points.size() << ' ';
        for (const PanelPoint& point : column.points)
            out << point.rank << ' ' << point.position << ' ' << point.weight << ' ' << point.leaf_left << ' '
                << point.leaf_right << ' ' << point.stump_left << ' ' << point.stump_right << ' ';
    }
    out << profile->deep.size() << ' ';
    for (const DeepFamily& family : profile->deep) {
        out << family.id << ' ' << family.left_splits << ' ' << family.points.size() << ' ';
        for (const DeepPoint& point : family.points)
            out << point.rank << ' ' << point.position << ' ' << point.weight << ' ' << point.left << ' ' << point.right
                << ' ';
    }
}

ProfilePtr read_profile(std::istream& in, std::size_t most, ByteCount& held) {
    if (read_count(in, 1) == 0) return nullptr;
    Shape shape;
    Index rows = 0;
    Weight weight = 0;
    in >> shape.depth >> shape.splits >> rows >> weight;
    auto profile = std::make_shared<Profile>(held, shape, rows, weight);
    profile->panel.resize(read_count(in, most));
    for (PanelColumn& column : profile->panel) {
        in >> column.id;
        column.points.resize(read_count(in, most));
        for (PanelPoint& point : column.points)
            in >> point.rank >> point.position >> point.weight >> point.leaf_left >> point.leaf_right >>
                point.stump_left >> point.stump_right;
    }
    profile->deep.resize(read_count(in, most));
    for (DeepFamily& family : profile->deep) {
        in >> family.id >> family.left_splits;
        family.points.resize(read_count(in, most));
        for (DeepPoint& point : family.points)
            in >> point.rank >> point.position >> point.weight >> point.left >> point.right;
    }
    profile->account();
    return profile;
}

}  // namespace provetree
