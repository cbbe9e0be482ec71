// SPDX-License-Identifier: MIT
// Bit steps: "isset:a&b; set:c" -> tests and changes of a connection's flow bits, with the meaning
// of Snort's option flowbits.
#pragma once

#include <cstdint>
#include <vector>

#include "functions/connections/bit_names.hpp"
#include "functions/connections/words.hpp"

namespace mapi::connections
{
struct BitStep {
    enum class Kind { kIsSet, kIsNotSet, kSet, kUnset, kToggle, kSetOne, kReset, kNoAlert };

    Kind kind = Kind::kNoAlert;
    std::vector<uint32_t> bits;
    BitGroup *group = nullptr;
    std::vector<Hold> holds; // of the bits and the group
    bool is_any = false;     // of several bits one is enough

    bool is_test() const { return kind == Kind::kIsSet || kind == Kind::kIsNotSet; }
    // False: the packet does not pass.  words: null for a packet without a connection, which only
    // passes changes.
    bool run(uint64_t *words) const;
};

// "KIND:BITS[,GROUP]".  Throws TextError.
BitStep read_bit_step(const Word &text, BitNames &names);
} // namespace mapi::connections
