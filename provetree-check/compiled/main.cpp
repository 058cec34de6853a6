// ptcheck: checks certificates of optimal decision trees, for long proofs. Written from docs/certificate.md alone; it
// shares no line with the solver, and none with the checker in Python.
//
//     g++ -O3 -march=native -std=c++17 -pthread -o ptcheck *.cpp
//     ptcheck proof.ptc table.csv [--jobs N] [--part I/N] [--times]
//
// It says "checked: ..." with exit status 0, or "not checked: ..." with exit status 1. Several pairs of files are
// checked one after the other; each line begins with the name of its certificate then, and 0 means that all hold.
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

struct Asked {
    i64 jobs = 1, part = 1, parts = 1;
    bool times = false;
    vector<string> files;
};

Asked read_arguments(const vector<string>& arguments) {
    Asked asked;
    for (size_t i = 0; i < arguments.size(); ++i) {
        if (arguments[i] == "--jobs" && i + 1 < arguments.size()) {
            asked.jobs = whole(arguments[++i], 1, 1024);
        } else if (arguments[i] == "--part" && i + 1 < arguments.size()) {
            const string& given = arguments[++i];
            const size_t slash = std::min(given.find('/'), given.size());
            asked.part = whole(given.substr(0, slash), 1);
            asked.parts = whole(slash < given.size() ? given.substr(slash + 1) : "", asked.part);
        } else if (arguments[i] == "--times") {
            asked.times = true;
        } else {
            asked.files.push_back(arguments[i]);
        }
    }
    need(!asked.files.empty() && asked.files.size() % 2 == 0,
         "usage: ptcheck CERTIFICATE TABLE.csv [more such pairs] [--jobs N] [--part I/N] [--times]");
    return asked;
}

// What is checked of a certificate; throws where anything is in doubt.
string checked(const Asked& asked, const string& certificate, const string& csv) {
    const std::clock_t begin = std::clock();
    const Header header(read_file(certificate));
    const Table table(header, read_csv(csv));
    const std::clock_t read = std::clock();
    const Proof proof(header, table);
    proof.check_last();
    check_claims(proof, static_cast<size_t>(asked.part - 1), static_cast<size_t>(asked.parts),
                 static_cast<size_t>(asked.jobs));
    if (asked.times) {
        const double unit = CLOCKS_PER_SEC, all = static_cast<double>(std::clock() - begin) / unit,
                     reading = static_cast<double>(read - begin) / unit;
        std::fprintf(stderr, "%.6f s of the processor to read the table, %.6f s to check the claims\n", reading,
                     all - reading);
    }
    if (asked.parts == 1) return "checked: " + proof.sentence();
    return "part " + std::to_string(asked.part) + " of " + std::to_string(asked.parts) +
           " holds of: " + proof.sentence();
}

// Says what is checked of one certificate, or why it is not.
bool tell(const Asked& asked, const string& certificate, const string& csv) {
    const string name = asked.files.size() > 2 ? certificate + ": " : "";
    string why;
    try {
        std::printf("%s%s\n", name.c_str(), checked(asked, certificate, csv).c_str());
        return true;
    } catch (const std::bad_alloc&) {
        why = "there is not enough memory";
    } catch (const std::exception& error) {
        why = error.what();
    }
    std::fprintf(stderr, "%snot checked: %s\n", name.c_str(), why.c_str());
    return false;
}

}  // namespace

int main(int argc, char** argv) {
    Asked asked;
    try {
        asked = read_arguments(vector<string>(argv + 1, argv + argc));
    } catch (const std::exception& error) {
        std::fprintf(stderr, "not checked: %s\n", error.what());
        return 1;
    }
    bool all = true;
    for (size_t i = 0; i < asked.files.size(); i += 2) all = tell(asked, asked.files[i], asked.files[i + 1]) && all;
    return all ? 0 : 1;
}
