// SPDX-License-Identifier: MIT
// Text -> a field of a C struct, truncated to its size.
#pragma once

#include <cstdio>
#include <string>

namespace mapi::engine
{
template <size_t kBytes> void copy_text(char (&field)[kBytes], const std::string &text)
{
    snprintf(field, kBytes, "%s", text.c_str());
}
} // namespace mapi::engine
