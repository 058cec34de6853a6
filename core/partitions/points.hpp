// Labelled points of a data-partition, column by column, and the distances between them. Sums run over the columns in
// their order, so that a distance is the same number whoever asks for it; ties between equal distances can then be
// broken by row numbers.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

namespace provetree::partitions {

using Row = std::int32_t;

// Unordered pairs come closest first, then by row numbers.
struct Pair {
    double distance;
    Row low;
    Row high;
    friend bool operator<(const Pair& a, const Pair& b) {
        return std::tie(a.distance, a.low, a.high) < std::tie(b.distance, b.low, b.high);
    }
};

inline Pair make_pair_of(double distance, Row a, Row b) { return a < b ? Pair{distance, a, b} : Pair{distance, b, a}; }

// Distances from one point to `count` points that lie column by column, `stride` apart; a block of them at a time, so
// that it stays close to the processor.
inline void distances_by_column(const double* columns, std::size_t stride, std::size_t count, std::size_t width,
                                std::size_t from, double* to) {
    constexpr std::size_t kBlock = 1024;
    for (std::size_t begin = 0; begin < count; begin += kBlock) {
        const std::size_t length = count - begin < kBlock ? count - begin : kBlock;
        double* here = to + begin;
        for (std::size_t k = 0; k < length; ++k) here[k] = 0.0;
        for (std::size_t c = 0; c < width; ++c) {
            const double* column = columns + c * stride + begin;
            const double x = columns[c * stride + from];
            for (std::size_t k = 0; k < length; ++k) {
                const double difference = x - column[k];
                here[k] += difference * difference;
            }
        }
        for (std::size_t k = 0; k < length; ++k) here[k] = std::sqrt(here[k]);
    }
}

class Points {
  public:
    // `rows` holds n rows of `width` numbers each.
    Points(const double* rows, const std::int32_t* classes, const double* weights, std::size_t n, std::size_t width)
        : n_(n), width_(width), columns_(n * width), classes_(classes, classes + n), weights_(weights, weights + n) {
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t c = 0; c < width; ++c) columns_[c * n + i] = rows[i * width + c];
    }

    std::size_t size() const { return n_; }
    std::size_t width() const { return width_; }
    std::int32_t label(Row i) const { return classes_[i]; }
    double weight(Row i) const { return weights_[i]; }
    double at(Row i, std::size_t column) const { return columns_[column * n_ + i]; }

    double distance(Row a, Row b) const {
        double sum = 0;
        for (std::size_t c = 0; c < width_; ++c) {
            const double difference = at(a, c) - at(b, c);
            sum += difference * difference;
        }
        return std::sqrt(sum);
    }

    // Distances from one row to all.
    void distances(Row from, std::vector<double>& to) const {
        to.resize(n_);
        distances_by_column(columns_.data(), n_, n_, width_, from, to.data());
    }

  private:
    std::size_t n_, width_;
    std::vector<double> columns_;
    std::vector<std::int32_t> classes_;
    std::vector<double> weights_;
};

}  // namespace provetree::partitions
