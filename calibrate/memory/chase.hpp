// SPDX-License-Identifier: MIT
// chase: a cycle of pointers -> ticks that an access takes, one after another or several at once.
#pragma once

#include <array>
#include <cstdint>

#include "memory/cycle.hpp"

namespace calibrate
{
inline constexpr unsigned kManyChains = 8;
using Chains = std::array<Place *, kManyChains>;

// Follows the pointers `accesses` times; each load needs the result of the one before.  `place`
// moves on.
double chased_ticks(Place *&place, uint32_t accesses);

// The same with kManyChains independent chains, whose loads overlap; ticks per load.
double overlapped_ticks(Chains &chains, uint32_t accesses);
} // namespace calibrate
