// SPDX-License-Identifier: MIT
// tell: message -> standard error.
#pragma once

#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace command
{
// fmt::print would throw if standard error is closed or full; a message must not end the program.
template <class... Args> void tell(fmt::format_string<Args...> format, Args &&...args)
{
    std::fputs(fmt::format(format, std::forward<Args>(args)...).c_str(), stderr);
}
} // namespace command
