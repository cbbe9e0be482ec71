// SPDX-License-Identifier: MIT
// export: text out of a trace -> text that is safe in CSV, JSON or on a terminal.
#include "export/escape.hpp"

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
} // namespace nsdump
