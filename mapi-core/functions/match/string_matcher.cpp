// SPDX-License-Identifier: MIT
// Window arithmetic of STR_SEARCH; the search of one string is in literal_search.cpp.
#include "string_matcher.hpp"

#include <algorithm>
#include <bit>

#include "errors.hpp"
#include "literal_search.hpp"
#include "pattern.hpp"

namespace mapi::match
{
namespace
{
uint32_t checked(int value, const char *name)
{
    if (value < 0)
        throw PatternError(PatternFault::kInvalid, std::string(name) + " is negative: " + std::to_string(value));
    return static_cast<uint32_t>(value);
}
} // namespace

StringMatcher::StringMatcher(std::string_view mapi_pattern, int offset, int depth)
    : alternatives_(parse_pattern(mapi_pattern)), offset_bytes_(checked(offset, "offset")),
      depth_bytes_(checked(depth, "depth"))
{
    if (depth_bytes_ == 0)
        return;
    std::erase_if(alternatives_, [this](const std::string &literal) { return literal.size() > depth_bytes_; });
    if (alternatives_.empty())
        throw PatternError(PatternFault::kDepthTooSmall,
                           "depth " + std::to_string(depth_bytes_) + " is shorter than the search string");
}

bool StringMatcher::matches(const uint8_t *data, uint32_t caplen) const noexcept
{
    if (caplen <= offset_bytes_)
        return false;
    uint32_t window_bytes = caplen - offset_bytes_;
    if (depth_bytes_ != 0)
        window_bytes = std::min(window_bytes, depth_bytes_);
    const uint8_t *window = data + offset_bytes_;
    for (const std::string &literal : alternatives_)
        if (has_literal(window, window_bytes, literal))
            return true;
    return false;
}

uint64_t StringMatcher::filter(const mapi_packet *packets, uint64_t mask) const noexcept
{
    uint64_t matching = 0;
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const int index = std::countr_zero(rest);
        if (matches(packets[index].data, packets[index].caplen))
            matching |= uint64_t{1} << index;
    }
    return matching;
}
} // namespace mapi::match
