// SPDX-License-Identifier: MIT
// export: text from a trace -> text that is safe in CSV, JSON or on a terminal.
#include "export/escape.hpp"

#include <cstdlib>
#include <cstring>

#include <nlohmann/json.hpp>

#include "common/command/printable.hpp"
#include "export/utf8.hpp"

namespace nsdump
{
std::string csv_field(std::string_view text)
{
    std::string repaired = utf8_text(text);
    if (repaired.find_first_of(",\"\r\n") == repaired.npos)
        return repaired;
    std::string quoted = "\"";
    for (const char letter : repaired) {
        if (letter == '"')
            quoted += '"';
        quoted += letter;
    }
    return quoted + '"';
}

std::string json_string(std::string_view text)
{
    return nlohmann::json(utf8_text(text)).dump();
}

namespace
{
// Chooses as setlocale() does.  Not cached, since a command calls it only a few times.
bool has_utf8_locale()
{
    for (const char *name : {"LC_ALL", "LC_CTYPE", "LANG"})
        if (const char *value = std::getenv(name); value && *value)
            return strcasestr(value, "UTF-8") || strcasestr(value, "utf8");
    return false;
}

// What is not printable, as \xNN.
std::string without_controls(std::string_view text)
{
    std::string out;
    while (!text.empty()) {
        const auto [bytes, code] = first_character(text);
        const std::string_view piece = text.substr(0, bytes);
        out += code && *code >= 0x80 && columns_of(*code) >= 0 ? std::string(piece)
                                                               : command::printable(piece);
        text.remove_prefix(bytes);
    }
    return out;
}
} // namespace

std::string printable(std::string_view text)
{
    return has_utf8_locale() ? without_controls(text) : command::printable(text);
}

std::string printable_utf8(std::string_view text)
{
    return without_controls(utf8_text(text));
}

std::string xml_text(std::string_view text)
{
    std::string out;
    for (const char letter : printable_utf8(text)) {
        switch (letter) {
        case '&': out += "&amp;"; break;
        case '<': out += "&lt;"; break;
        case '>': out += "&gt;"; break;
        case '"': out += "&quot;"; break;
        default: out += letter;
        }
    }
    return out;
}
} // namespace nsdump
