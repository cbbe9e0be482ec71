// SPDX-License-Identifier: MIT
// count_names: a function whose result is a list of counts -> the names of the counts.
#pragma once

#include <span>
#include <string_view>

namespace mapi_flow
{
// Names of the 64-bit words of its result, in order; empty if the result is not a list of counts.
std::span<const std::string_view> count_names(std::string_view function);
} // namespace mapi_flow
