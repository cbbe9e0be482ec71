// SPDX-License-Identifier: MIT
// cycle: Sattolo's algorithm, whose permutations are all of one cycle.
#include "memory/cycle.hpp"

#include <random>
#include <utility>

namespace calibrate
{
void link_cycle(const Places &places, uint64_t seed)
{
    std::mt19937_64 random(seed);
    for (size_t i = 0; i < places.count; ++i)
        places[i]->next = places[i];
    for (size_t i = places.count; i-- > 1;) // j < i, unlike in a shuffle
        std::swap(places[i]->next, places[size_t(random() % i)]->next);
}
} // namespace calibrate
