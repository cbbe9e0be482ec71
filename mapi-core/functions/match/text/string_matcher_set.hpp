// SPDX-License-Identifier: MIT
// Many STR_SEARCH patterns at once: one pass over each packet for all of them.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <mapi/packet.h>

#include "string_matcher.hpp"

namespace mapi::match
{
// Packets that hold a pattern.
struct PatternMatches {
    uint64_t mask;
    uint32_t matcher; // its place in the list
};

// One thread at a time.  The matchers must live longer.
class StringMatcherSet
{
public:
    // Searched by themselves: strings of one byte, which Vectorscan (5.4.9, AVX-512) does not find in each packet when others are in the
    // database; and what might be refused with all others, longer strings and windows that end behind this.
    static constexpr size_t kShortestBytes = 2;
    static constexpr size_t kLongestBytes = 1024;
    static constexpr uint64_t kLastWindowByte = 1 << 16;

    // Null where this build or processor has no such search.
    static std::unique_ptr<StringMatcherSet> make(const std::vector<const StringMatcher *> &matchers);

    virtual ~StringMatcherSet() = default;
    // Each matcher at most once.  Valid until the next call.
    virtual std::span<const PatternMatches> find(const mapi_packet *packets, uint64_t mask) = 0;
};
} // namespace mapi::match
