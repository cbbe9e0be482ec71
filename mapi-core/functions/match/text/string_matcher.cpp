// SPDX-License-Identifier: MIT
// Window arithmetic of STR_SEARCH; literal_search.cpp finds one string, literal_set_vectorscan.cpp
// many.
#include "string_matcher.hpp"

#include <algorithm>
#include <bit>
#include <optional>

#include "folded_text.hpp"
#include "match/errors.hpp"
#include "pattern.hpp"

namespace mapi::match
{
namespace
{
uint32_t checked(int value, const char *name)
{
    if (value < 0)
        throw PatternError(PatternFault::kInvalid,
                           std::string(name) + " is negative: " + std::to_string(value));
    return uint32_t(value);
}
} // namespace

StringMatcher::StringMatcher(std::string_view mapi_pattern, int offset, int depth,
                             LetterCase letter_case)
    : alternatives_(parse_pattern(mapi_pattern)), offset_bytes_(checked(offset, "offset")),
      depth_bytes_(checked(depth, "depth")), letter_case_(letter_case)
{
    if (letter_case_ == LetterCase::kIgnored)
        std::for_each(alternatives_.begin(), alternatives_.end(), fold);
    if (depth_bytes_ != 0)
        std::erase_if(alternatives_,
                      [this](const std::string &literal) { return literal.size() > depth_bytes_; });
    if (alternatives_.empty())
        throw PatternError(PatternFault::kDepthTooSmall,
                           "depth " + std::to_string(depth_bytes_) +
                               " is less than the length of the search string");
    set_ = LiteralSet::make(alternatives_, letter_case_);
}

StringMatcher::Window StringMatcher::window_of(const uint8_t *data, uint32_t caplen) const noexcept
{
    if (caplen <= offset_bytes_)
        return {data, 0};
    const uint32_t rest_bytes = caplen - offset_bytes_;
    return {data + offset_bytes_,
            depth_bytes_ != 0 ? std::min(rest_bytes, depth_bytes_) : rest_bytes};
}

bool StringMatcher::has_any_folded(Window window) const noexcept
{
    thread_local FoldedText folded;
    const uint8_t *const text = folded.copy(window.data, window.bytes);
    for (const std::string &literal : alternatives_)
        if (text ? has_literal_(text, window.bytes, literal)
                 : has_folded_literal(window.data, window.bytes, literal))
            return true;
    return false;
}

bool StringMatcher::has_any(Window window) const noexcept
{
    if (letter_case_ == LetterCase::kIgnored)
        return has_any_folded(window);
    for (const std::string &literal : alternatives_)
        if (has_literal_(window.data, window.bytes, literal))
            return true;
    return false;
}

bool StringMatcher::matches(const uint8_t *data, uint32_t caplen) const noexcept
{
    mapi_packet packet{};
    packet.data = data;
    packet.caplen = caplen;
    return filter(&packet, 1) != 0;
}

uint64_t StringMatcher::filter(const mapi_packet *packets, uint64_t mask) const noexcept
{
    if (set_) {
        if (LiteralSet::Scratch *scratch = set_->take_scratch()) {
            const uint64_t matching = filter_with_set(packets, mask, scratch);
            set_->return_scratch(scratch);
            return matching;
        }
    }
    uint64_t matching = 0;
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const int index = std::countr_zero(rest);
        matching |= uint64_t{has_any(window_of(packets[index].data, packets[index].caplen))}
                    << index;
    }
    return matching;
}

uint64_t StringMatcher::filter_with_set(const mapi_packet *packets, uint64_t mask,
                                        LiteralSet::Scratch *scratch) const noexcept
{
    uint64_t matching = 0;
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const int index = std::countr_zero(rest);
        const Window window = window_of(packets[index].data, packets[index].caplen);
        if (window.bytes == 0)
            continue;
        const std::optional<bool> found = set_->is_in(window.data, window.bytes, scratch);
        matching |= uint64_t{found ? *found : has_any(window)} << index;
    }
    return matching;
}
} // namespace mapi::match
