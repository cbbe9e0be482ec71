// SPDX-License-Identifier: MIT
// count_names: a function whose result is many counts -> their names.
#pragma once

#include <span>
#include <string_view>

namespace mapi_flow
{
// Of its result's 64-bit words, in their order; empty: its result is no such one.
std::span<const std::string_view> count_names(std::string_view function);
} // namespace mapi_flow
