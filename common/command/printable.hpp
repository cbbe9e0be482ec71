// SPDX-License-Identifier: MIT
// printable: arbitrary bytes -> text without terminal control characters.
#pragma once

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace command
{
// Shows control characters and non-ASCII bytes as \xNN.
inline std::string printable(std::string_view text)
{
    std::string out;
    for (const char letter : text) {
        const auto byte = static_cast<unsigned char>(letter);
        if (byte >= 0x20 && byte < 0x7f)
            out += letter;
        else
            out += fmt::format("\\x{:02x}", byte);
    }
    return out;
}
} // namespace command
