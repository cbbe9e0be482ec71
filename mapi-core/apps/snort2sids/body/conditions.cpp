// SPDX-License-Identifier: MIT
// conditions: flow, flowbits, threshold and detection_filter of Snort -> those of sids.
#include "conditions.hpp"

#include <algorithm>
#include <cctype>
#include <limits>
#include <map>
#include <set>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "common/command/numbers.hpp"
#include "refusal.hpp"

namespace snort2sids
{
namespace
{
[[noreturn]] void refuse(const Option &option, size_t offset, const std::string &detail)
{
    throw Refusal(offset, "malformed " + option.name, detail);
}

struct Part {
    std::string text; // without spaces at its ends
    size_t offset = 0;
};

// The parts between commas.
std::vector<Part> split(const Option &option)
{
    std::vector<Part> parts;
    const std::string &value = option.value;
    for (size_t at = 0; at <= value.size();) {
        const size_t end = std::min(value.find(',', at), value.size());
        const size_t first = std::min(value.find_first_not_of(" \t", at), end);
        std::string text = value.substr(first, end - first);
        text.erase(text.find_last_not_of(" \t") + 1);
        if (text.empty())
            refuse(option, option.value_offset + at, "a word is missing");
        parts.push_back({text, option.value_offset + first});
        at = end + 1;
    }
    return parts;
}

std::string lower(std::string text)
{
    for (char &letter : text)
        letter = char(std::tolower(static_cast<unsigned char>(letter)));
    return text;
}

void set_once(const Option &option, const Part &part, std::string &variable)
{
    if (!variable.empty())
        refuse(option, part.offset, command::quoted(part.text) + " contradicts " + variable);
    variable = lower(part.text);
}

bool is_bit_letter(char letter)
{
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' ||
           letter == '-' || letter == '.';
}

// "a", "a&b", "a|b": Snort takes one kind of operator.
void check_bits(const Option &option, const Part &part, bool allows_or)
{
    char before = '&', used = 0;
    for (size_t i = 0; i < part.text.size(); ++i) {
        const char letter = part.text[i];
        const bool is_operator = letter == '&' || letter == '|';
        if (is_operator ? !is_bit_letter(before) || (used != 0 && letter != used) ||
                              (letter == '|' && !allows_or)
                        : !is_bit_letter(letter))
            refuse(option, part.offset + i, command::quoted(part.text) + " names no bits");
        used = is_operator ? letter : used;
        before = letter;
    }
    if (!is_bit_letter(before))
        refuse(option, part.offset, command::quoted(part.text) + " names no bits");
}

struct Rate {
    std::map<std::string, std::string> values; // by "type", "track", "count", "seconds"
};

std::string rate_number(const Option &option, const Part &part, const std::string &text)
{
    const auto number = command::number_of<uint32_t>(text);
    if (!number || *number == 0)
        refuse(option, part.offset, command::quoted(text) + " is not a positive number");
    return std::to_string(*number);
}

Rate read_rate(const Option &option)
{
    Rate rate;
    for (const Part &part : split(option)) {
        const size_t gap = std::min(part.text.find_first_of(" \t"), part.text.size());
        const std::string name = lower(part.text.substr(0, gap));
        const size_t start = part.text.find_first_not_of(" \t", gap);
        const std::string value = start == std::string::npos ? "" : lower(part.text.substr(start));
        const bool is_number = name == "count" || name == "seconds";
        const bool is_known = is_number ||
                              (name == "track" && (value == "by_src" || value == "by_dst")) ||
                              (name == "type" && option.name == "threshold" &&
                               (value == "limit" || value == "threshold" || value == "both"));
        if (!is_known)
            refuse(option, part.offset, command::quoted(part.text) + " is unknown");
        if (!rate.values.emplace(name, is_number ? rate_number(option, part, value) : value).second)
            refuse(option, part.offset, name + " appears twice");
    }
    return rate;
}
} // namespace

Flow read_flow(const Option &option)
{
    static const std::set<std::string> states = {"established", "not_established", "stateless"};
    static const std::set<std::string> directions = {"to_server", "to_client", "from_server",
                                                     "from_client"};
    Flow flow;
    for (const Part &part : split(option)) {
        const std::string word = lower(part.text);
        if (states.contains(word))
            set_once(option, part, flow.state);
        else if (directions.contains(word))
            set_once(option, part, flow.direction);
        else if (word == "no_stream" || word == "no_frag")
            flow.is_raw_only = true;
        else if (word == "only_stream")
            flow.is_rebuilt_only = true;
        else if (word == "only_frag")
            throw Refusal(part.offset, "flow: only_frag: packets that were put together from "
                                       "fragments are not distinguished from others");
        else
            refuse(option, part.offset, command::quoted(part.text) + " is unknown");
    }
    if (flow.is_raw_only && flow.is_rebuilt_only)
        refuse(option, option.value_offset, "only_stream contradicts no_stream and no_frag");
    return flow;
}

Flowbits read_flowbits(const Option &option)
{
    const std::vector<Part> parts = split(option);
    const std::string verb = lower(parts[0].text);
    const bool is_test = verb == "isset" || verb == "isnotset";
    const bool is_bare = verb == "noalert" || verb == "reset";
    const bool has_bits =
        is_test || verb == "set" || verb == "setx" || verb == "unset" || verb == "toggle";
    if (!has_bits && !is_bare)
        refuse(option, parts[0].offset, command::quoted(verb) + " is unknown");
    const size_t least = verb == "setx" ? 3 : has_bits ? 2 : 1;
    const size_t most = verb == "noalert" ? 1 : has_bits ? 3 : 2;
    if (parts.size() < least || parts.size() > most)
        refuse(option, option.value_offset, "the number of words is wrong");
    std::string value = verb;
    for (size_t i = 1; i < parts.size(); ++i) {
        if (has_bits && i == 1)
            check_bits(option, parts[i], is_test);
        else if (!std::all_of(parts[i].text.begin(), parts[i].text.end(), is_bit_letter))
            refuse(option, parts[i].offset, command::quoted(parts[i].text) + " is not a group");
        value += "," + parts[i].text;
    }
    return {value, is_test};
}

std::string rate_value(const Option &option)
{
    Rate rate = read_rate(option);
    std::string value;
    for (const char *const name : {"type", "track", "count", "seconds"}) {
        const auto found = rate.values.find(name);
        if (found == rate.values.end() &&
            (name != std::string_view("type") || option.name == "threshold"))
            refuse(option, option.value_offset, fmt::format("{} is missing", name));
        if (found != rate.values.end())
            value += fmt::format("{}{} {}", value.empty() ? "" : ", ", name, found->second);
    }
    return value;
}
} // namespace snort2sids
