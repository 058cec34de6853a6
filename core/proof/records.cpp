// Plans and profiles as text; see proof/records.hpp.
#include "proof/records.hpp"

namespace provetree {

void list(Writer& writer, const PlanPtr& plan) {
    if (!plan) {
        writer.text += "leaf ";
    } else if (plan->stump) {
        writer.text += "stump ";
    } else if (plan->bottom_splits) {
        writer.text += "bottom ";
        writer(plan->bottom_splits);
    } else {
        writer.text += "split ";
        writer(plan->column, plan->rank, plan->left, plan->right);
    }
}

namespace {

constexpr int kDeepest = 4096;  // no tree is deeper; a damaged file might seem so

PlanPtr read_plan(Reader& reader, int depth) {
    if (depth > kDeepest) throw std::ios_base::failure("plan");
    const std::string_view kind = reader.word();
    if (kind == "leaf") return nullptr;
    if (kind == "stump") return stump_plan();
    if (kind == "bottom") {
        int splits = 0;
        reader(splits);
        return bottom_plan(splits);
    }
    if (kind != "split") throw std::ios_base::failure("plan");
    Index column = 0, rank = 0;
    reader(column, rank);
    PlanPtr left = read_plan(reader, depth + 1), right = read_plan(reader, depth + 1);
    return split_plan(column, rank, std::move(left), std::move(right));
}

void list_columns(auto& archive, auto& columns) {
    archive.count(columns);
    for (auto& column : columns) {
        archive(column.id);
        archive.count(column.points);
        for (auto& point : column.points)
            archive(point.rank, point.position, point.weight, point.leaf_left, point.leaf_right, point.stump_left,
                    point.stump_right);
    }
}

// `deep`: what it tells of deeper nodes.
void list_profile(auto& archive, auto& profile, auto& deep) {
    archive(profile.shape, profile.rows, profile.weight);
    list_columns(archive, profile.panel);
    // A node of depth two has columns: none in errors means that they are in units.
    if (profile.panel.empty() && profile.shape.depth == 2) list_columns(archive, profile.measured);
    archive.count(deep);
    for (auto& family : deep) {
        archive(family.id, family.left_splits);
        archive.count(family.points);
        for (auto& point : family.points) archive(point.rank, point.position, point.weight, point.left, point.right);
    }
}

}  // namespace

void list(Reader& reader, PlanPtr& plan) { plan = read_plan(reader, 0); }

void list(Writer& writer, const ProfilePtr& profile) {
    writer(profile != nullptr);
    if (profile) {
        const std::vector<DeepFamily> deep = families_of(*profile);
        list_profile(writer, *profile, deep);
    }
}

void list(Reader& reader, ProfilePtr& profile) {
    profile = nullptr;
    if (reader.number_up_to(1) == 0) return;
    auto read = std::make_shared<Profile>(reader.held, Shape{}, 0, 0);
    list_profile(reader, *read, read->deep);
    read->account();
    profile = std::move(read);
}

}  // namespace provetree
