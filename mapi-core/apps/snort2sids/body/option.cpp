// SPDX-License-Identifier: MIT
// option: "content:\"a\\;b\"; nocase;" -> names and values, each with its place.
#include "option.hpp"

#include <algorithm>
#include <cctype>

#include "snort2sids/source/malformed.hpp"

namespace snort2sids
{
namespace
{
constexpr std::string_view kSpaces = " \t";

// The offset of the next ";" or ":" that is not escaped, or of the end.
size_t find_unescaped(std::string_view text, size_t at, char letter)
{
    for (; at < text.size() && text[at] != letter; ++at)
        at += text[at] == '\\' && at + 1 < text.size() ? 1 : 0;
    return std::min(at, text.size());
}

size_t skip_spaces(std::string_view text, size_t at)
{
    return std::min(text.find_first_not_of(kSpaces, at), text.size());
}

// A value ends before the spaces at its end, unless the last one is escaped.
std::string_view trimmed(std::string_view text)
{
    while (!text.empty() && kSpaces.find(text.back()) != kSpaces.npos)
        text.remove_suffix(1);
    return text;
}

Option read_option(std::string_view text, size_t start, size_t end)
{
    Option option;
    option.name_offset = start;
    const size_t colon = std::min(text.substr(0, end).find(':', start), end);
    for (const char letter : trimmed(text.substr(start, colon - start)))
        option.name += char(std::tolower(static_cast<unsigned char>(letter)));
    option.has_value = colon < end;
    option.value_offset = option.has_value ? std::min(skip_spaces(text, colon + 1), end) : end;
    option.value = trimmed(text.substr(option.value_offset, end - option.value_offset));
    return option;
}
} // namespace

std::vector<Option> split_options(std::string_view text, size_t body)
{
    std::vector<Option> options;
    if (body == text.size())
        throw Malformed(body, "the options are missing: (msg:\"...\"; sid:N;)");
    const size_t close = text.find_last_not_of(kSpaces);
    if (close == body || text[close] != ')')
        throw Malformed(close + 1, "\")\" is missing at the end of the rule");
    const std::string_view inside = text.substr(0, close);
    for (size_t at = skip_spaces(inside, body + 1); at < close;) {
        const size_t end = find_unescaped(inside, at, ';');
        if (end == close)
            throw Malformed(close, "\";\" is missing after the last option");
        if (end > at) // Snort takes an empty option for nothing
            options.push_back(read_option(inside, at, end));
        at = skip_spaces(inside, end + 1);
    }
    return options;
}
} // namespace snort2sids
