// SPDX-License-Identifier: MIT
// impairment: seed, direction and number of a packet -> what happens to it.
#include "impairment.hpp"

#include <cmath>

namespace impair
{
namespace
{
// Each question about a packet has a random number of its own.
enum Question : uint64_t { kLoss, kDuplicate, kReorder, kJitter, kQuestions };

// The output function of splitmix64.
uint64_t mix(uint64_t value)
{
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15U;

// From 0 to below 1.
double random_of(uint64_t seed, Direction direction, uint64_t number, Question question)
{
    const uint64_t stream = mix(seed * kGolden + direction + 1);
    const uint64_t bits = mix(stream + (number * kQuestions + question + 1) * kGolden);
    return double(bits >> 11) * 0x1p-53;
}

uint64_t delay_of(const Impairment &impairment, double random)
{
    const double delay =
        double(impairment.delay_ns) + (2 * random - 1) * double(impairment.jitter_ns);
    return delay > 0 ? uint64_t(std::llround(delay)) : 0;
}
} // namespace

Choice choose(const Impairment &impairment, uint64_t seed, Direction direction, uint64_t number)
{
    const auto happens = [&](Question question, double probability) {
        return random_of(seed, direction, number, question) < probability;
    };
    Choice choice;
    choice.is_lost = happens(kLoss, impairment.loss);
    if (choice.is_lost)
        return choice;
    choice.is_duplicated = happens(kDuplicate, impairment.duplicate);
    choice.is_reordered = happens(kReorder, impairment.reorder);
    choice.delay_ns = delay_of(impairment, random_of(seed, direction, number, kJitter));
    if (choice.is_reordered)
        choice.delay_ns += impairment.reorder_ns;
    return choice;
}
} // namespace impair
