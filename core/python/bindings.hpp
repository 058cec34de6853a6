// What the binding files share: array types, checked tables, vectors handed to numpy without copying.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <exception>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.hpp"
#include "loss/measure.hpp"
#include "table/table.hpp"

namespace provetree {

namespace nb = nanobind;
using namespace nb::literals;

template <class T>
using Array1 = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Array2 = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// An array of this shape, which takes the vector over.
template <class T, class Allocator, class... Sizes>
auto shaped(std::vector<T, Allocator>&& values, Sizes... shape) {
    using Kept = std::vector<T, Allocator>;
    auto* kept = new Kept(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<Kept*>(p); });
    return nb::ndarray<nb::numpy, T, nb::ndim<sizeof...(shape)>>(kept->data(), {static_cast<std::size_t>(shape)...},
                                                                 owner);
}

template <class T>
auto to_numpy(std::vector<T>&& values) {
    const std::size_t size = values.size();
    return shaped(std::move(values), size);
}

// Reads dict_of("cost"_a = cost, ...).
template <class... Items>
nb::dict dict_of(Items&&... items) {
    return nb::borrow<nb::dict>(nb::handle(reinterpret_cast<PyObject*>(&PyDict_Type))(std::forward<Items>(items)...));
}

template <class Work>
auto without_gil(const Work& work) {
    nb::gil_scoped_release release;
    return work();
}

inline void must(bool holds, const char* sentence) {
    if (!holds) throw nb::value_error(sentence);
}

// How a search ended, as Python is told.
inline const char* status_name(Status status) {
    if (status == Status::kOptimal) return "optimal";
    if (status == Status::kTimeLimit) return "time_limit";
    if (status == Status::kNothingBelow) return "nothing_below";
    return status == Status::kWorkLimit ? "work_limit" : "interrupted";
}

[[noreturn]] inline void raise_keyboard_interrupt() {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    throw nb::python_error();
}

// Python's signals, looked at while the core works without the GIL. Ctrl-C ends the work with what it has; any other
// exception is raised when it has unwound.
class Signals {
  public:
    // Whether to go on; the caller holds the GIL. Python tells of a signal once, and who asks may not be who ends.
    bool go_on() {
        if (interrupted_ || failure_) return false;
        if (PyErr_CheckSignals() == 0) return true;
        const nb::python_error raised;
        if (raised.matches(PyExc_KeyboardInterrupt))
            interrupted_ = true;
        else
            failure_ = std::make_exception_ptr(raised);
        return false;
    }
    // The same for a caller without the GIL, who also tells how far it came. `interrupts_end`: a KeyboardInterrupt of
    // on_progress ends the work as Ctrl-C does, and is no failure.
    bool report(const nb::object& on_progress, double seconds, auto cost, auto bound, bool interrupts_end = false) {
        nb::gil_scoped_acquire acquire;
        if (!go_on()) return false;
        try {
            if (!on_progress.is_none()) on_progress(seconds, cost, bound);
        } catch (const nb::python_error& error) {
            if (!interrupts_end || !error.matches(PyExc_KeyboardInterrupt)) fail(std::current_exception());
            return false;
        }
        return true;
    }
    void interrupt() { interrupted_ = true; }
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
        without_gil([&] {
            try {
                result = work(monitor);
            } catch (const StopSearch&) {
                complete = false;
            }
        });
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
               Array1<const std::int64_t> counts, int n_classes, const std::string& loss,
               std::optional<Array2<const double>> targets, int cost_bits);
    // The rows with their weights.
    const Table& table() const { return table_; }
    // The same as the search takes it: under a loss other than errors, with its measure.
    const Table& searched() const { return searched_; }
    // The user's cost of one unit of cost, and what is added to the cost of every tree.
    double cost_unit() const { return measure_ ? measure_->unit() : 1; }
    double constant() const { return measure_ ? measure_->constant() : 0; }

  private:
    void check_rows();
    void add_column(std::size_t c, std::int64_t begin, std::int64_t end);

    Array2<const Index> ranks_;
    Array1<const double> values_;
    Array1<const std::int32_t> classes_;
    Array1<const std::int64_t> weights_, counts_;
    std::optional<Measure> measure_;
    Table table_, searched_;
};

struct SearchOptions;

// The options of a search as Python gives them. Throws TypeError for unknown names and wrong types, ValueError for
// values that cannot be.
SearchOptions search_options_of(const nb::kwargs& given, const Table& table);

// Each registers what its file holds.
void register_search(nb::module_& module);
void register_sizes(nb::module_& module);
void register_streamed(nb::module_& module);
void register_near_optimal(nb::module_& module);
void register_parts(nb::module_& module);
void register_colgen(nb::module_& module);
void register_itemsets(nb::module_& module);
void register_partitions(nb::module_& module);

}  // namespace provetree
