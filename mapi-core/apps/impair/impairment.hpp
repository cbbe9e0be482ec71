// SPDX-License-Identifier: MIT
// impairment: seed, direction and number of a packet -> what happens to it.
#pragma once

#include <cstdint>

namespace impair
{
enum Direction : uint8_t { kForward, kBackward };
constexpr unsigned kDirections = 2;

constexpr const char *name_of(Direction direction)
{
    return direction == kForward ? "forward" : "backward";
}

// Probabilities are from 0 to 1.
struct Impairment {
    uint64_t delay_ns = 0;
    uint64_t jitter_ns = 0; // the delay is even between delay - jitter and delay + jitter
    double loss = 0;
    double duplicate = 0;
    double reorder = 0;
    uint64_t reorder_ns = 1'000'000; // further delay of a packet that later ones may overtake
};

struct Choice {
    bool is_lost = false;
    bool is_duplicated = false;
    bool is_reordered = false;
    uint64_t delay_ns = 0;
};

// Depends on nothing else: neither times nor packets of the other direction change it.
Choice choose(const Impairment &impairment, uint64_t seed, Direction direction, uint64_t number);
} // namespace impair
