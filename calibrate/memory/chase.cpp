// SPDX-License-Identifier: MIT
// chase: loads whose address is the result of an earlier load.
#include "memory/chase.hpp"

#include <cstddef>
#include <utility>

#include "cases/cases.hpp"

namespace calibrate
{
namespace
{
constexpr uint32_t kPerRound = 8;

// The compiler must neither drop the loads nor keep the pointer in memory.
void keep(Place *&place)
{
    asm volatile("" : "+r"(place));
}

// Written out for each chain: an index that varies would keep the pointers in memory.
template <size_t... chain> void step(Chains &at, std::index_sequence<chain...>)
{
    ((at[chain] = at[chain]->next, keep(at[chain])), ...);
}
} // namespace

double chased_ticks(Place *&place, uint32_t accesses)
{
    Place *at = place;
    const uint32_t rounds = accesses / kPerRound;
    const uint64_t begin = read_ticks();
    for (uint32_t round = 0; round < rounds; ++round) {
        for (uint32_t i = 0; i < kPerRound; ++i)
            at = at->next;
        keep(at);
    }
    const uint64_t end = read_ticks();
    place = at;
    return double(end - begin) / double(rounds * kPerRound);
}

double overlapped_ticks(Chains &chains, uint32_t accesses)
{
    Chains at = chains;
    const uint32_t rounds = accesses / kManyChains;
    const uint64_t begin = read_ticks();
    for (uint32_t round = 0; round < rounds; ++round)
        step(at, std::make_index_sequence<kManyChains>());
    const uint64_t end = read_ticks();
    chains = at;
    return double(end - begin) / double(rounds * kManyChains);
}
} // namespace calibrate
