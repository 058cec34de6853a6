// Several threads at the root of the bit search: what they have in common, and what each has of its own. Private to
// BitSearch.
#pragma once

#include <thread>
#include <vector>

#include "bits/bit_search.hpp"
#include "run/workers.hpp"

namespace provetree {

struct BitSearch::Crew : CommonWork {
    struct Task {
        std::uint32_t feature;
        Division share;
    };

    explicit Crew(BitSearch& first) : leader(first) {}

    BitSearch& leader;
    std::vector<Task> tasks;
    std::size_t next = 0;
    BitNodes::Floors floors;
    bool raise = false;
    Cost limit = 0;
    Proven best;
    std::vector<std::vector<KnownSet>> told;  // by thread: what it has proven, for the checkpoint
};

// What a thread needs of its own.
struct BitSearch::Mate {
    Mate(Context& leader, const BitKernel& kernel, const Loss& loss, std::uint64_t memory_limit, Crew& crew,
         std::size_t number)
        : who(number),
          monitor(crew.team,
                  [this, &crew] {
                      tell(crew);
                      return true;
                  }),
          context(leader, monitor, memory_limit),
          search(context, kernel, loss) {}
    void tell(Crew& crew);

    std::size_t who;
    CheckpointFile::Clock::time_point next_telling{};
    Monitor monitor;
    Context context;
    BitSearch search;
    std::thread thread;
};

}  // namespace provetree
