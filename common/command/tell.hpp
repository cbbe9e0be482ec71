// SPDX-License-Identifier: MIT
// tell: words for a person -> standard error.
#pragma once

#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace command
{
// Not fmt::print, which throws where standard error is closed or full: what a program has to say must not end it.
template <class... Args> void tell(fmt::format_string<Args...> format, Args &&...args)
{
    std::fputs(fmt::format(format, std::forward<Args>(args)...).c_str(), stderr);
}
} // namespace command
