// What the binding files share: array types, checked tables, vectors handed to numpy without copying.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <exception>
#include <utility>
#include <vector>

#include "base/limits.hpp"
#include "table/table.hpp"

namespace provetree {

namespace nb = nanobind;

template <class T>
using Array1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::ndarray<nb::numpy, T, nb::ndim<1>> to_numpy(std::vector<T>&& values) {
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<1>>(kept->data(), {kept->size()}, owner);
}

template <class T, class Allocator>
nb::ndarray<nb::numpy, T, nb::ndim<2>> to_numpy(std::vector<T, Allocator>&& values, std::size_t rows,
                                                std::size_t columns) {
    using Kept = std::vector<T, Allocator>;
    auto* kept = new Kept(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Kept*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<2>>(kept->data(), {rows, columns}, owner);
}

inline void must(bool holds, const char* sentence) {
    if (!holds) throw nb::value_error(sentence);
}

[[noreturn]] inline void raise_keyboard_interrupt() {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
}

// Python's signals, looked at while the core works without the GIL. Ctrl-C ends the work with what it has; any other
// exception is raised when it has unwound.
class Signals {
  public:
    // Whether to go on; the caller holds the GIL.
    bool go_on() {
        if (PyErr_CheckSignals() == 0) return true;
        const nb::python_error raised;
        if (raised.matches(PyExc_KeyboardInterrupt))
            interrupted_ = true;
        else
            failure_ = std::make_exception_ptr(raised);
        return false;
    }
    void fail(std::exception_ptr failure) { failure_ = std::move(failure); }
    bool interrupted() const { return interrupted_; }
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    bool interrupted_ = false;
    std::exception_ptr failure_;
};

// Signals and a limit on time together, for work that tells nothing on its way.
class Stops : public Signals {
  public:
    explicit Stops(double time_limit)
        : monitor(time_limit, [this] {
              nb::gil_scoped_acquire acquire;
              return go_on();
          }) {}

    // What `work(monitor)` gives, done without the GIL; an empty result where it was stopped.
    template <class Work>
    auto run(const Work& work) {
        decltype(work(monitor)) result{};
        {
            nb::gil_scoped_release release;
            try {
                result = work(monitor);
            } catch (const StopSearch&) {
                complete = false;
            }
        }
        rethrow();
        return result;
    }

    // How the work ended, as Python is told. Some work stops by itself and says so in its result.
    const char* end_name(bool result_complete = true) const {
        return complete && result_complete ? "complete" : interrupted() ? "interrupted" : "time_limit";
    }

    Monitor monitor;
    bool complete = true;
};

// A Table over Python's arrays, made and checked once: a private module must not crash the process either. It keeps the
// arrays alive; nobody may change them afterwards.
class BoundTable {
  public:
    BoundTable(Array2<const Index> ranks, Array1<const double> values, Array1<const std::int64_t> value_ends,
               Array1<const std::int32_t> classes, Array1<const std::int64_t> weights,
               Array1<const std::int64_t> counts, int n_classes);
    const Table& table() const { return table_; }

  private:
    void check_rows();
    void add_column(std::size_t c, std::int64_t begin, std::int64_t end);

    Array2<const Index> ranks_;
    Array1<const double> values_;
    Array1<const std::int32_t> classes_;
    Array1<const std::int64_t> weights_, counts_;
    Table table_;
};

// The table and what works on it: search, rows sent down a tree.
void register_search(nb::module_& module);

// The kernels and bounds one by one, for the tests.
void register_parts(nb::module_& module);

// The candidate problem of column generation.
void register_colgen(nb::module_& module);

// DL8 and DL8.5.
void register_itemsets(nb::module_& module);

// Data-partitions.
void register_partitions(nb::module_& module);

}  // namespace provetree
