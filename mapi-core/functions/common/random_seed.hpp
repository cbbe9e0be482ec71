// SPDX-License-Identifier: MIT
// Random seed: for a table's hash, so that a sender cannot choose collisions; for samples, so that
// those of two flows differ.
#pragma once

#include <cstdint>
#include <random>

namespace mapi::functions
{
inline uint64_t random_seed()
{
    std::random_device source;
    return uint64_t(source()) << 32 | source();
}
} // namespace mapi::functions
