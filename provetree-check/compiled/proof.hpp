// All claims of a certificate, and what is needed to check each of them by itself.
#pragma once

#include "node.hpp"

namespace ptcheck {

class Proof {
  public:
    Proof(const Header& header, const Table& table);

    size_t size() const { return claims_.size(); }
    // Checks one claim, taking the statements of earlier ones for granted.
    void check_claim(size_t k) const;
    // Checks the tree, and that the last claim is about the whole table and the limits.
    void check_last() const;
    // What is checked once all claims are.
    string sentence() const;

  private:
    // The rows of a claim, where its cover is checked: by conditions, and as bits where the table has them.
    struct Rows {
        Where where;
        Node* node;
        Bits bits, side, others;
    };
    struct Bounds {
        i64 relaxed = 0, lower = 0;
    };
    Condition read_condition(JsonReader& line) const;
    void read_where(JsonReader& line, Claim& claim);
    void read_point(JsonReader& line, i64 k);
    void read_claim(JsonReader line, i64 k);
    void check_tree() const;
    void check_cover(size_t k, Rows& rows, Shape least) const;
    i64 most_splits(const Claim& claim, Node& node) const;
    void check_splits(const Claim& claim, size_t k, const Column& column, i64 left_splits, const Shape (&shapes)[2],
                      const vector<Point>& points, Rows& rows) const;
    Bounds served(size_t k, const Shape& shape, Rows& rows, int column, i64 rank, bool right) const;
    // The weight of rows of a claim that a side lacks; says whether the claim has all rows of the side.
    i64 lacking(const Where& others, const Where& side, Rows& rows, bool& has_all) const;
    Where where_of(const Claim& claim) const {
        return Where(conditions_.begin() + static_cast<std::ptrdiff_t>(claim.where_begin),
                     conditions_.begin() + static_cast<std::ptrdiff_t>(claim.where_end));
    }

    const Header& header_;
    const Table& table_;
    Ground ground_;
    vector<Claim> claims_;
    vector<Condition> conditions_;
    vector<Point> points_;
    Sorted sorted_;
    BitTable bits_;
};

}  // namespace ptcheck
