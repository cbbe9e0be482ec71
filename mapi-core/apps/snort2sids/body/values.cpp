// SPDX-License-Identifier: MIT
// values: the value of an option of Snort -> that of an option of sids, always written alike.
#include "values.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <regex>

#include <fmt/format.h>

#include "common/command/numbers.hpp"
#include "refusal.hpp"

namespace snort2sids
{
namespace
{
constexpr size_t kMostPlainBytes = 1024; // of what a regular expression is tried on
constexpr std::string_view kPcreFlags = "ismxAEGRUIPHDMCKSYBO";

[[noreturn]] void refuse(const Option &option, size_t at, const std::string &detail)
{
    throw Refusal(option.value_offset + at, "malformed " + option.name, detail);
}

bool is_space(char letter)
{
    return letter == ' ' || letter == '\t';
}

size_t skip_spaces(std::string_view text, size_t at)
{
    while (at < text.size() && is_space(text[at]))
        ++at;
    return at;
}

struct Quoted {
    bool is_negated = false;
    size_t begin = 0, end = 0; // of what is between the quotes
};

// The closing quote is the next that is not escaped, or else the value's last letter.
Quoted find_quoted(const Option &option, bool ends_value)
{
    const std::string &value = option.value;
    Quoted quoted;
    quoted.is_negated = value.starts_with('!');
    const size_t quote = skip_spaces(value, quoted.is_negated ? 1 : 0);
    if (quote == value.size() || value[quote] != '"')
        refuse(option, quote, "the value must be in double quotes");
    quoted.begin = quoted.end = quote + 1;
    if (ends_value) {
        quoted.end = value.size() - 1;
    } else {
        while (quoted.end < value.size() && value[quoted.end] != '"')
            quoted.end += value[quoted.end] == '\\' ? 2 : 1;
    }
    if (quoted.end < quoted.begin || quoted.end >= value.size() || value[quoted.end] != '"')
        refuse(option, value.size(),
               "the closing quote is missing (a ; inside quotes is written \\;)");
    return quoted;
}

bool is_hex(char letter)
{
    return std::isxdigit(static_cast<unsigned char>(letter)) != 0;
}

// The bytes between two "|", which are at `at` - 1 and, on return, at `at`.
void read_hex(const Option &option, size_t &at, size_t end, std::string &bytes)
{
    for (at = skip_spaces(option.value, at); at < end && option.value[at] != '|';
         at = skip_spaces(option.value, at)) {
        if (at + 1 >= end || !is_hex(option.value[at]) || !is_hex(option.value[at + 1]))
            refuse(option, at, "between | and | are bytes of two hexadecimal digits");
        bytes += char(std::stoi(option.value.substr(at, 2), nullptr, 16));
        at += 2;
    }
    if (at >= end)
        refuse(option, end, "the second | is missing");
}

std::string content_bytes(const Option &option, const Quoted &quoted)
{
    std::string bytes;
    for (size_t at = quoted.begin; at < quoted.end; ++at) {
        const char letter = option.value[at];
        if (letter == '|')
            read_hex(option, ++at, quoted.end, bytes);
        else
            bytes += letter == '\\' ? option.value[++at] : letter;
    }
    if (bytes.empty())
        refuse(option, quoted.begin, "the content is empty");
    return bytes;
}

// As few letters in hexadecimal as possible, and no escapes.
std::string content_text(const std::string &bytes)
{
    std::string text;
    bool is_in_hex = false;
    for (const char letter : bytes) {
        const auto byte = static_cast<unsigned char>(letter);
        const bool needs_hex = byte < 0x20 || byte > 0x7e || letter == '"' || letter == '\\' ||
                               letter == ';' || letter == '|';
        if (needs_hex != is_in_hex)
            text += '|';
        else if (needs_hex)
            text += ' ';
        is_in_hex = needs_hex;
        text += needs_hex ? fmt::format("{:02X}", byte) : std::string(1, letter);
    }
    return is_in_hex ? text + "|" : text;
}

// "content:\"a\", offset 3, nocase": what follows the closing quote.
std::vector<Option> comma_modifiers(const Option &option, size_t at)
{
    const std::string &value = option.value;
    std::vector<Option> modifiers;
    while ((at = skip_spaces(value, at)) < value.size()) {
        if (value[at] != ',')
            refuse(option, at, "only a comma and a modifier may follow the closing quote");
        at = skip_spaces(value, at + 1);
        const size_t end = std::min(value.find(',', at), value.size());
        Option modifier;
        modifier.name_offset = modifier.value_offset = option.value_offset + at;
        while (at < end && !is_space(value[at]))
            modifier.name += char(std::tolower(static_cast<unsigned char>(value[at++])));
        at = std::min(skip_spaces(value, at), end);
        modifier.value = value.substr(at, end - at);
        modifier.value.erase(modifier.value.find_last_not_of(" \t") + 1);
        modifier.has_value = !modifier.value.empty();
        if (modifier.name.empty() || modifier.name.find(':') != std::string::npos)
            refuse(option, at, "a modifier is missing after the comma");
        modifiers.push_back(std::move(modifier));
        at = end;
    }
    return modifiers;
}

// "m#...#" allows any delimiter; sids has "/" alone.
std::string with_slashes(std::string_view expression)
{
    std::string text;
    for (size_t at = 0; at < expression.size(); ++at) {
        if (expression[at] == '\\' && at + 1 < expression.size())
            text += expression[at++];
        else if (expression[at] == '/')
            text += '\\';
        else if (expression[at] == '"') {
            text += "\\x22";
            continue;
        }
        text += expression[at];
    }
    return text;
}

const std::regex &compiled(const char *pattern)
{
    static std::map<const char *, std::regex> known;
    const auto found = known.find(pattern);
    if (found != known.end())
        return found->second;
    return known.emplace(pattern, std::regex(pattern, std::regex::icase | std::regex::optimize))
        .first->second;
}
} // namespace

Content content_value(const Option &option)
{
    const Quoted quoted = find_quoted(option, false);
    const std::string text = content_text(content_bytes(option, quoted));
    return {(quoted.is_negated ? "!\"" : "\"") + text + '"',
            comma_modifiers(option, quoted.end + 1)};
}

std::string pcre_value(const Option &option)
{
    const Quoted quoted = find_quoted(option, true);
    const std::string_view inside =
        std::string_view(option.value).substr(quoted.begin, quoted.end - quoted.begin);
    const size_t start = inside.starts_with('m') ? 1 : 0;
    const char delimiter = start < inside.size() ? inside[start] : ' ';
    const size_t end = inside.rfind(delimiter);
    if (std::isalnum(static_cast<unsigned char>(delimiter)) != 0 || delimiter == ' ' ||
        (start == 0 && delimiter != '/') || end == start)
        refuse(option, quoted.begin, "a regular expression is written \"/.../flags\"");
    const std::string_view flags = inside.substr(end + 1);
    const size_t wrong = flags.find_first_not_of(kPcreFlags);
    if (wrong != flags.npos)
        refuse(option, quoted.begin + end + 1 + wrong, "this is not a flag of pcre");
    const std::string_view expression = inside.substr(start + 1, end - start - 1);
    const bool needs_change = delimiter != '/' || expression.find('"') != expression.npos;
    if (needs_change && expression.find("\\Q") != expression.npos)
        refuse(option, quoted.begin, "\\Q cannot be written with other delimiters and quotes");
    return fmt::format("{}\"/{}/{}\"", quoted.is_negated ? "!" : "",
                       needs_change ? with_slashes(expression) : std::string(expression), flags);
}

std::string text_value(const Option &option)
{
    std::string_view inside = option.value;
    if (inside.starts_with('"')) {
        const Quoted quoted = find_quoted(option, true);
        inside = inside.substr(quoted.begin, quoted.end - quoted.begin);
    }
    std::string text;
    for (size_t at = 0; at < inside.size(); ++at) {
        const bool is_escaped = inside[at] == '\\' && at + 1 < inside.size();
        const char letter = inside[is_escaped ? ++at : at];
        if (letter == '"' || letter == '\\')
            text += '\\';
        text += std::iscntrl(static_cast<unsigned char>(letter)) != 0 ? ' ' : letter;
    }
    return '"' + text + '"';
}

std::string bare_value(const Option &option)
{
    std::string text;
    for (size_t at = 0; at < option.value.size(); ++at) {
        const char letter = option.value[at];
        if (letter == '\\' && at + 1 < option.value.size())
            text += option.value[at++];
        else if (letter == '"' || letter == '\\')
            text += '\\';
        text += std::iscntrl(static_cast<unsigned char>(option.value[at])) != 0 ? ' '
                                                                                : option.value[at];
    }
    if (text.empty())
        refuse(option, 0, "the value is missing");
    return text;
}

std::string plain_value(const Option &option, const char *pattern)
{
    std::string text;
    bool has_gap = false;
    for (const char letter : option.value) {
        if (is_space(letter)) {
            has_gap = true;
            continue;
        }
        const auto is_word = [](char one) {
            return std::isalnum(static_cast<unsigned char>(one)) != 0 || one == '_' || one == '-';
        };
        if (has_gap && !text.empty() && is_word(text.back()) && is_word(letter))
            text += ' ';
        has_gap = false;
        text += letter;
    }
    if (text.size() > kMostPlainBytes || !std::regex_match(text, compiled(pattern)))
        refuse(option, 0, command::quoted(text.substr(0, 100)));
    return text;
}

std::string number_value(const Option &option, unsigned least)
{
    constexpr size_t kMostDigits = 10;
    const std::string &text = option.value;
    const bool is_number = !text.empty() && text.size() <= kMostDigits &&
                           text.find_first_not_of("0123456789") == std::string::npos;
    const unsigned long number = is_number ? std::stoul(text) : 0;
    if (!is_number || number < least || number > std::numeric_limits<uint32_t>::max())
        refuse(option, 0,
               fmt::format("{} is not a number from {} to 4294967295",
                           command::quoted(text.substr(0, 100)), least));
    return std::to_string(number);
}
} // namespace snort2sids
