// SPDX-License-Identifier: MIT
// counted: a number and its noun -> "1 chunk", "2 chunks".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <fmt/format.h>

namespace command
{
// `many` is by default `one` with an s.
inline std::string counted(uint64_t count, std::string_view one, std::string_view many = {})
{
    if (count == 1 || !many.empty())
        return fmt::format("{} {}", count, count == 1 ? one : many);
    return fmt::format("{} {}s", count, one);
}
} // namespace command
