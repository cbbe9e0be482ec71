// SPDX-License-Identifier: MIT
// variables: var, ipvar and portvar of Snort -> their values in the text of a rule's header.
#include "variables.hpp"

#include <algorithm>
#include <cctype>

#include "common/command/printable.hpp"
#include "malformed.hpp"

namespace snort2sids
{
namespace
{
// Lists of lists of lists grow exponentially.
constexpr size_t kMostExpandedBytes = 1 << 18;

bool is_name_letter(char letter)
{
    return std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_';
}

struct Reference {
    std::string name;
    std::string modifier; // ":-default" or ":?message", or empty
    size_t bytes = 0;     // with the $
};

Reference read_reference(std::string_view text, size_t offset)
{
    Reference found;
    size_t at = offset + 1;
    const bool has_parentheses = at < text.size() && text[at] == '(';
    at += has_parentheses ? 1 : 0;
    while (at < text.size() && is_name_letter(text[at]))
        found.name += text[at++];
    if (found.name.empty())
        throw Malformed(offset, "$ without the name of a variable");
    if (has_parentheses) {
        const size_t end = text.find(')', at);
        if (end == text.npos)
            throw Malformed(offset, "$( without )");
        found.modifier = text.substr(at, end - at);
        at = end + 1;
    }
    found.bytes = at - offset;
    return found;
}
} // namespace

bool is_variable_name(std::string_view text)
{
    return !text.empty() && std::all_of(text.begin(), text.end(), is_name_letter);
}

void Variables::fix(const std::string &name, const std::string &value)
{
    values_[name] = expand(value);
    fixed_.insert(name);
}

void Variables::define(const std::string &name, std::string_view value)
{
    const std::string expanded = expand(value);
    if (!fixed_.contains(name))
        values_[name] = expanded;
}

std::string Variables::expand(std::string_view text) const
{
    std::string out;
    for (size_t at = 0; at < text.size();) {
        if (text[at] != '$') {
            out += text[at++];
            continue;
        }
        const Reference reference = read_reference(text, at);
        const auto known = values_.find(reference.name);
        if (known != values_.end())
            out += known->second;
        else if (reference.modifier.starts_with(":-"))
            out += reference.modifier.substr(2);
        else if (reference.modifier.starts_with(":?"))
            throw Malformed(at, "variable " + reference.name + ": " +
                                    command::printable(reference.modifier.substr(2)));
        else
            throw Malformed(at, "variable " + reference.name + " is not defined (give --var " +
                                    reference.name +
                                    "=VALUE, or --config with the file that defines it)");
        if (out.size() > kMostExpandedBytes)
            throw Malformed(at, "the value of variable " + reference.name + " is too long");
        at += reference.bytes;
    }
    return out;
}

std::vector<std::pair<std::string, std::string>> Variables::values_in(std::string_view text) const
{
    std::vector<std::pair<std::string, std::string>> found;
    for (size_t at = text.find('$'); at != text.npos; at = text.find('$', at)) {
        const Reference reference = read_reference(text, at);
        if (const auto known = values_.find(reference.name); known != values_.end())
            found.emplace_back(*known);
        at += reference.bytes;
    }
    return found;
}
} // namespace snort2sids
