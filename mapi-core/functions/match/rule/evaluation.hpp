// SPDX-License-Identifier: MIT
// Evaluation: a rule and the texts of a packet -> whether the packet matches.  This is the
// reference for faster ways.
#pragma once

#include <cstdint>

#include "match/rule/options.hpp"
#include "match/rule/packet_texts.hpp"

namespace mapi::match::rule
{
enum class Verdict : uint8_t {
    kNoMatch,
    kMatch,
    kGivenUp, // undecided within the limit of steps
};

// Not thread-safe if the rule has regular expressions.
Verdict evaluate(const Rule &rule, PacketTexts &texts);
} // namespace mapi::match::rule
