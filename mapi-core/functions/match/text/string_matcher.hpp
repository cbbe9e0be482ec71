// SPDX-License-Identifier: MIT
// A STR_SEARCH pattern, compiled once: packet views -> which of them contain the string.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <mapi/packet.h>

#include "letter_case.hpp"
#include "literal_search.hpp"
#include "literal_set.hpp"

namespace mapi::match
{
// Thread-safe: nothing changes after construction.
class StringMatcher
{
public:
    // pattern.hpp describes the syntax.  offset counts from the first byte of the frame.  A match
    // must lie within the bytes [offset, offset + depth), or for depth 0 within [offset, end of the
    // captured bytes).  Throws PatternError; an alternative longer than depth is an error only if
    // no other one fits.
    StringMatcher(std::string_view mapi_pattern, int offset, int depth,
                  LetterCase letter_case = LetterCase::kExact);

    bool matches(const uint8_t *data, uint32_t caplen) const noexcept;
    // Examines packets[i] if bit i of mask is set and returns the part of mask that matches.
    uint64_t filter(const mapi_packet *packets, uint64_t mask) const noexcept;

    // In lower case if case is ignored.
    const std::vector<std::string> &alternatives() const noexcept { return alternatives_; }
    LetterCase letter_case() const noexcept { return letter_case_; }
    uint32_t offset_bytes() const noexcept { return offset_bytes_; }
    uint32_t depth_bytes() const noexcept { return depth_bytes_; }
    // Its memory, without its strings.
    uint64_t memory_bytes() const noexcept { return set_ ? set_->memory_bytes() : 0; }

private:
    struct Window {
        const uint8_t *data;
        size_t bytes;
    };
    Window window_of(const uint8_t *data, uint32_t caplen) const noexcept;
    bool has_any(Window window) const noexcept;
    bool has_any_folded(Window window) const noexcept;
    uint64_t filter_with_set(const mapi_packet *packets, uint64_t mask,
                             LiteralSet::Scratch *scratch) const noexcept;

    std::vector<std::string> alternatives_; // those that fit into depth
    uint32_t offset_bytes_;
    uint32_t depth_bytes_; // 0: to the end
    LetterCase letter_case_;
    LiteralSearch has_literal_ = best_literal_search();
    std::shared_ptr<const LiteralSet> set_; // null for few alternatives
};
} // namespace mapi::match
