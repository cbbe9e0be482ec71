// SPDX-License-Identifier: MIT
// export: text out of a trace -> text that is safe in CSV, JSON or on a terminal.
#include "export/escape.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace nsdump
{
std::string csv_field(std::string_view text)
{
    if (text.find_first_of(",\"\r\n") == text.npos)
        return std::string(text);
    std::string quoted = "\"";
    for (const char letter : text) {
        if (letter == '"')
            quoted += '"';
        quoted += letter;
    }
    return quoted + '"';
}

std::string json_string(std::string_view text)
{
    return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string printable(std::string_view text)
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
} // namespace nsdump
