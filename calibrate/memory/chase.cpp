// SPDX-License-Identifier: MIT
// chase: loads whose address is the result of an earlier load.
#include "memory/chase.hpp"

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

double overlapped_ticks(Place *(&places)[kManyChains], uint32_t accesses)
{
    Place *at[kManyChains];
    for (unsigned chain = 0; chain < kManyChains; ++chain)
        at[chain] = places[chain];
    const uint32_t rounds = accesses / kManyChains;
    const uint64_t begin = read_ticks();
    for (uint32_t round = 0; round < rounds; ++round)
        for (Place *&one : at) {
            one = one->next;
            keep(one);
        }
    const uint64_t end = read_ticks();
    for (unsigned chain = 0; chain < kManyChains; ++chain)
        places[chain] = at[chain];
    return double(end - begin) / double(rounds * kManyChains);
}
} // namespace calibrate
