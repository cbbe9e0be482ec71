// SPDX-License-Identifier: MIT
// Option text: one pass over the options, then one over each value.
#include "match/rule/parse/option_text.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "match/rule/rule_error.hpp"

namespace mapi::match::rule
{
namespace
{
constexpr std::string_view kBlanks = " \t\r\n";

bool is_name_letter(char letter)
{
    return std::isalnum(uint8_t(letter)) || letter == '_' || letter == '.';
}

Part trimmed(Part part)
{
    const size_t first = part.text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos)
        return {{}, part.at};
    part = part.from(first);
    part.text = part.text.substr(0, part.text.find_last_not_of(kBlanks) + 1);
    return part;
}

size_t skip_blanks(std::string_view text, size_t at)
{
    return std::min(text.find_first_not_of(kBlanks, at), text.size());
}

// The semicolon that ends a value, or the end of the text.
size_t end_of_value(std::string_view text, size_t at)
{
    size_t quote = std::string_view::npos;
    for (; at < text.size(); ++at) {
        if (text[at] == '\\')
            ++at;
        else if (text[at] == '"')
            quote = quote == std::string_view::npos ? at : std::string_view::npos;
        else if (text[at] == ';' && quote == std::string_view::npos)
            return at;
    }
    if (quote != std::string_view::npos)
        throw RuleError(quote, "this double quote has no end");
    return text.size();
}

// Appends bytes of a hex block and returns the place of its closing pipe.
size_t append_hex(Part text, size_t at, std::string &bytes)
{
    const size_t begin = at;
    int digits = 0;
    for (unsigned value = 0; ++at < text.text.size();) {
        const char letter = text.text[at];
        if (letter == '|') {
            if (digits % 2)
                throw RuleError(text.at + at, "a hex block needs two digits for each byte");
            return at;
        }
        if (kBlanks.find(letter) != std::string_view::npos)
            continue;
        if (!std::isxdigit(uint8_t(letter)))
            throw RuleError(text.at + at, "this is not a hex digit");
        value = value << 4 | unsigned(letter <= '9' ? letter - '0' : (letter | 0x20) - 'a' + 10);
        if (++digits % 2 == 0)
            bytes.push_back(char(uint8_t(value)));
    }
    throw RuleError(text.at + begin, "this hex block has no closing pipe");
}
} // namespace

Part Part::from(size_t first) const
{
    return {text.substr(first), at + first};
}

std::vector<OptionText> split_options(std::string_view text)
{
    std::vector<OptionText> options;
    for (size_t at = skip_blanks(text, 0); at < text.size(); at = skip_blanks(text, at)) {
        const size_t begin = at;
        while (at < text.size() && is_name_letter(text[at]))
            ++at;
        OptionText option{{text.substr(begin, at - begin), begin}, {{}, at}};
        if (option.name.is_empty())
            throw RuleError(begin, "the name of an option is expected here");
        at = skip_blanks(text, at);
        if (at < text.size() && text[at] == ':') {
            const size_t end = end_of_value(text, ++at);
            option.value = trimmed({text.substr(at, end - at), at});
            option.has_value = true;
            at = end;
        }
        if (at < text.size() && text[at] != ';')
            throw RuleError(at, "a colon or a semicolon is expected after \"" +
                                    std::string(option.name.text) + "\"");
        at += at < text.size();
        options.push_back(option);
    }
    return options;
}

std::vector<Part> split(Part list, char separator)
{
    std::vector<Part> parts;
    for (size_t begin = 0;;) {
        const size_t end = std::min(list.text.find(separator, begin), list.text.size());
        parts.push_back(trimmed({list.text.substr(begin, end - begin), list.at + begin}));
        if (end == list.text.size())
            return parts;
        begin = end + 1;
    }
}

bool take_negation(Part &value)
{
    if (!value.text.starts_with('!'))
        return false;
    value = trimmed(value.from(1));
    return true;
}

Part without_quotes(Part value)
{
    if (!value.text.starts_with('"'))
        return value;
    if (value.text.size() < 2 || !value.text.ends_with('"'))
        throw RuleError(value.at, "text follows the closing double quote");
    value.text.remove_suffix(1);
    return value.from(1);
}

std::optional<int64_t> number_if_any(Part part)
{
    std::string_view digits = part.text;
    const bool is_negative = digits.starts_with('-');
    digits.remove_prefix(is_negative || digits.starts_with('+'));
    const bool is_hex = digits.starts_with("0x") || digits.starts_with("0X");
    digits.remove_prefix(is_hex ? 2 : 0);
    int64_t value = 0;
    const char *const end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value, is_hex ? 16 : 10);
    if (digits.empty() || digits.front() == '-' || error != std::errc() || stop != end)
        return std::nullopt;
    return is_negative ? -value : value;
}

int64_t number_of(Part part, int64_t lowest, int64_t highest)
{
    const std::optional<int64_t> number = number_if_any(part);
    if (!number)
        throw RuleError(part.at, "\"" + std::string(part.text) + "\" is not a number");
    if (*number < lowest || *number > highest)
        throw RuleError(part.at, std::to_string(*number) + " is out of range (" +
                                     std::to_string(lowest) + " to " + std::to_string(highest) +
                                     ")");
    return *number;
}

std::string bytes_of(Part quoted)
{
    const Part text = without_quotes(quoted);
    std::string bytes;
    for (size_t at = 0; at < text.text.size(); ++at) {
        if (text.text[at] == '|') {
            at = append_hex(text, at, bytes);
            continue;
        }
        if (text.text[at] == '\\' && ++at == text.text.size())
            throw RuleError(text.at + at - 1, "nothing follows this backslash");
        bytes.push_back(text.text[at]);
    }
    return bytes;
}
} // namespace mapi::match::rule
