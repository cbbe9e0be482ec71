// SPDX-License-Identifier: MIT
// list: "[a,!b,[c,d]]" -> items, each with its negation.
#pragma once

#include <functional>
#include <string_view>

namespace snort2sids
{
// Snort has flat lists: a nested list's items belong to the outer one, and a negation before a list
// negates each item.  `take` gets the item, its offset and whether it is negated.  Throws
// Malformed.
void read_list(std::string_view text,
               const std::function<void(std::string_view, size_t, bool)> &take);
} // namespace snort2sids
