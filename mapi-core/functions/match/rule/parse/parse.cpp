// SPDX-License-Identifier: MIT
// Parse: one option after the other, each by the parser of its kind.
#include "match/rule/parse/parse.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "match/rule/parse/parser.hpp"
#include "match/rule/regular_expression.hpp"
#include "match/rule/rule_error.hpp"

namespace mapi::match::rule
{
namespace
{
constexpr size_t kMostOptions = 256; // the evaluation nests as deep as there are contents
} // namespace

void require_no_value(const OptionText &option)
{
    if (option.has_value && !option.value.is_empty())
        throw RuleError(option.value.at, "\"" + std::string(option.name.text) + "\" has no value");
}

const Part &require_value(const OptionText &option)
{
    if (option.value.is_empty())
        throw RuleError(option.name.at,
                        "\"" + std::string(option.name.text) + "\" requires a value");
    return option.value;
}

void Parser::add(const OptionText &option)
{
    static constexpr std::array kKinds = {find_content_option, find_expression_option,
                                          find_byte_option,    find_field_option,
                                          find_buffer_option,  find_protocol_option};
    for (const auto &find : kKinds) {
        const ParseOption parse_option = find(option.name.text);
        if (!parse_option)
            continue;
        parse_option(*this, option);
        if (rule_.payload.size() + rule_.fields.size() > kMostOptions)
            throw RuleError(option.name.at,
                            "more than " + std::to_string(kMostOptions) + " options");
        return;
    }
    throw RuleError(option.name.at, "unknown option \"" + std::string(option.name.text) + "\"");
}

void Parser::add_content(Content content, size_t at)
{
    check_content();
    rule_.payload.emplace_back(std::move(content));
    content_at_ = at;
    has_content_ = true;
}

Content &Parser::content_before(const OptionText &modifier)
{
    for (auto option = rule_.payload.rbegin(); option != rule_.payload.rend(); ++option) {
        if (auto *content = std::get_if<Content>(&*option))
            return *content;
    }
    throw RuleError(modifier.name.at,
                    "\"" + std::string(modifier.name.text) + "\" requires a content before it");
}

void Parser::check_content()
{
    if (!has_content_)
        return;
    has_content_ = false;
    for (auto option = rule_.payload.rbegin(); option != rule_.payload.rend(); ++option) {
        auto *content = std::get_if<Content>(&*option);
        if (!content)
            continue;
        const bool is_absolute = content->offset || content->depth;
        if (is_absolute && content->is_relative)
            throw RuleError(content_at_,
                            "this content has offset or depth, and distance or within");
        const auto check = [&](const std::optional<Number> &limit, const char *name) {
            if (limit && limit->variable < 0 && limit->value < int64_t(content->text.size()))
                throw RuleError(content_at_, std::string(name) + " " +
                                                 std::to_string(limit->value) +
                                                 " is less than the content's length, " +
                                                 std::to_string(content->text.size()));
        };
        check(content->depth, "depth");
        check(content->within, "within");
        return;
    }
}

int Parser::declare_variable(Part name)
{
    if (name.is_empty() || std::isdigit(uint8_t(name.text.front())))
        throw RuleError(name.at, "a variable's name begins with a letter");
    const auto known = std::find(variables_.begin(), variables_.end(), name.text);
    if (known == variables_.end() && variables_.size() == kVariables)
        throw RuleError(name.at, "more than " + std::to_string(kVariables) + " variables");
    const auto index = int(known - variables_.begin());
    if (known == variables_.end())
        variables_.emplace_back(name.text);
    return index;
}

Number Parser::number_or_variable(Part part, int64_t lowest, int64_t highest) const
{
    if (number_if_any(part))
        return {number_of(part, lowest, highest)};
    const auto known = std::find(variables_.begin(), variables_.end(), part.text);
    if (known == variables_.end())
        throw RuleError(part.at,
                        "\"" + std::string(part.text) +
                            "\" is neither a number nor a variable of byte_extract or byte_math");
    return {0, int(known - variables_.begin())};
}

Rule Parser::finish()
{
    check_content();
    rule_.memory_bytes = sizeof(Rule) + rule_.fields.capacity() * sizeof(FieldTest) +
                         rule_.payload.capacity() * sizeof(PayloadOption);
    for (const PayloadOption &option : rule_.payload) {
        if (const auto *content = std::get_if<Content>(&option))
            rule_.memory_bytes += content->text.capacity();
        else if (const auto *expression = std::get_if<Expression>(&option))
            rule_.memory_bytes += expression->code->memory_bytes();
    }
    return std::move(rule_);
}

Rule parse(std::string_view options)
{
    Parser parser;
    for (const OptionText &option : split_options(options))
        parser.add(option);
    return parser.finish();
}
} // namespace mapi::match::rule
