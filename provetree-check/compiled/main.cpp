// ptcheck: checks certificates of optimal decision trees, for long proofs. Written from docs/certificate.md alone; it
// shares no line with the solver, and none with the checker in Python.
//
//     g++ -O2 -std=c++17 -pthread -o ptcheck *.cpp
//     ptcheck proof.ptc table.csv [--jobs N] [--part I/N] [--times]
//
// It says "checked: ..." with exit status 0, or "not checked: ..." with exit status 1.
#include <atomic>
#include <cstdio>
#include <ctime>
#include <mutex>
#include <new>
#include <thread>

#include "proof.hpp"

using namespace ptcheck;

namespace {

// Claims are taken by whichever thread is free; the first failure ends them all.
void check_claims(const Proof& proof, size_t part, size_t parts, size_t jobs) {
    std::atomic<size_t> next{part};
    std::atomic<bool> failed{false};
    std::mutex lock;
    string why;
    const auto work = [&] {
        for (size_t k; !failed && (k = next.fetch_add(parts)) < proof.size();) {
            try {
                proof.check_claim(k);
            } catch (const std::exception& error) {
                const std::lock_guard<std::mutex> hold(lock);
                if (!failed.exchange(true))
                    why = "claim " + std::to_string(k) + " of " + std::to_string(proof.size()) +
                          " fails: " + error.what();
            }
        }
    };
    vector<std::thread> threads;
    for (size_t i = 1; i < jobs; ++i) threads.emplace_back(work);
    work();
    for (std::thread& thread : threads) thread.join();
    need(!failed, why);
}

int run(const vector<string>& arguments) {
    vector<string> files;
    i64 jobs = 1, part = 1, parts = 1;
    bool times = false;
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--jobs" && i + 1 < arguments.size()) {
            jobs = whole(arguments[++i], 1, 1024);
        } else if (arguments[i] == "--part" && i + 1 < arguments.size()) {
            const string& given = arguments[++i];
            const size_t slash = std::min(given.find('/'), given.size());
            part = whole(given.substr(0, slash), 1);
            parts = whole(slash < given.size() ? given.substr(slash + 1) : "", part);
        } else if (arguments[i] == "--times") {
            times = true;
        } else {
            files.push_back(arguments[i]);
        }
    }
    need(files.size() == 2, "usage: ptcheck CERTIFICATE TABLE.csv [--jobs N] [--part I/N] [--times]");
    const std::clock_t begin = std::clock();
    const Header header(read_file(files[0]));
    const Table table(header, read_csv(files[1]));
    const std::clock_t read = std::clock();
    const Proof proof(header, table);
    proof.check_last();
    check_claims(proof, static_cast<size_t>(part - 1), static_cast<size_t>(parts), static_cast<size_t>(jobs));
    if (times) {
        const double unit = CLOCKS_PER_SEC, all = static_cast<double>(std::clock() - begin) / unit,
                     reading = static_cast<double>(read - begin) / unit;
        std::fprintf(stderr, "%.6f s of the processor to read the table, %.6f s to check the claims\n", reading,
                     all - reading);
    }
    if (parts == 1)
        std::printf("checked: %s\n", proof.sentence().c_str());
    else
        std::printf("part %lld of %lld holds of: %s\n", static_cast<long long>(part), static_cast<long long>(parts),
                    proof.sentence().c_str());
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        return run(vector<string>(argv + 1, argv + argc));
    } catch (const std::bad_alloc&) {
        std::fprintf(stderr, "not checked: there is not enough memory\n");
    } catch (const std::exception& error) {
        std::fprintf(stderr, "not checked: %s\n", error.what());
    }
    return 1;
}
