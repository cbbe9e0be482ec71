// SPDX-License-Identifier: MIT
// What the parsers of single options share: the rule so far.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "match/rule/options.hpp"
#include "match/rule/parse/option_text.hpp"

namespace mapi::match::rule
{
class Parser
{
public:
    // Throws RuleError, as all members.
    void add(const OptionText &option);
    // Checks what can only be judged when all modifiers are known.
    Rule finish();

    // For the parsers of options:
    void add_field(const FieldTest &test) { rule_.fields.push_back(test); }
    template <class Option> void add_payload(Option option)
    {
        rule_.payload.emplace_back(std::move(option));
    }
    template <class Option> bool has_payload() const
    {
        return std::any_of(rule_.payload.begin(), rule_.payload.end(), [](const auto &option) {
            return std::holds_alternative<Option>(option);
        });
    }
    void add_content(Content content, size_t at);
    // The content that a modifier belongs to: the last one.
    Content &content_before(const OptionText &modifier);
    int declare_variable(Part name);
    // A number, or a variable that byte_extract or byte_math has declared before.
    Number number_or_variable(Part part, int64_t lowest, int64_t highest) const;

private:
    void check_content();

    Rule rule_;
    std::vector<std::string> variables_;
    size_t content_at_ = 0;    // of the last content
    bool has_content_ = false; // not yet checked
};

using ParseOption = void (*)(Parser &parser, const OptionText &option);
struct OptionParser {
    std::string_view name;
    ParseOption parse;
};

// Null: not one of these.
ParseOption find_content_option(std::string_view name);
ParseOption find_expression_option(std::string_view name);
ParseOption find_byte_option(std::string_view name);
ParseOption find_field_option(std::string_view name);
ParseOption find_buffer_option(std::string_view name);
ParseOption find_protocol_option(std::string_view name);

// The entry of a table with that name, or null.
template <class Table> ParseOption find_in(const Table &table, std::string_view name)
{
    for (const OptionParser &entry : table) {
        if (entry.name == name)
            return entry.parse;
    }
    return nullptr;
}

// Refuses a value, or the lack of one.
void require_no_value(const OptionText &option);
const Part &require_value(const OptionText &option);
} // namespace mapi::match::rule
