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
// Packets that contain a pattern.
struct PatternMatches {
    uint64_t mask;
    uint32_t matcher; // index in the list
};

// Not thread-safe.  The matchers must outlive it.
class StringMatcherSet
{
public:
    // Searched separately: strings of one byte, which Vectorscan (5.4.9, AVX-512) does not find in
    // every packet if the database contains others; and longer strings and windows that end beyond
    // these limits, which could make the whole database fail.
    static constexpr size_t kShortestBytes = 2;
    static constexpr size_t kLongestBytes = 1024;
    static constexpr uint64_t kLastWindowByte = 1 << 16;

    // Returns null if this build or processor has no such search.
    static std::unique_ptr<StringMatcherSet>
    make(const std::vector<const StringMatcher *> &matchers);

    virtual ~StringMatcherSet() = default;
    // Lists each matcher at most once.  Valid until the next call.
    virtual std::span<const PatternMatches> find(const mapi_packet *packets, uint64_t mask) = 0;
};
} // namespace mapi::match
