// SPDX-License-Identifier: MIT
// Options that read numbers in the payload: byte_test, byte_jump, byte_extract, isdataat.
#include <array>
#include <cctype>
#include <string>

#include "match/rule/parse/parser.hpp"
#include "match/rule/rule_error.hpp"

namespace mapi::match::rule
{
namespace
{
constexpr int64_t kFarthest = 65535;
constexpr int64_t kMostTextBytes = 10;
constexpr uint32_t kMostBinaryBytes = 4;
constexpr int64_t kLargest = UINT32_MAX;

bool is_word(Part part, std::string_view word)
{
    if (part.text.size() != word.size())
        return false;
    for (size_t i = 0; i < word.size(); ++i) {
        if (std::tolower(uint8_t(part.text[i])) != word[i])
            return false;
    }
    return true;
}

// Whether the part is the word, a blank and an argument, which is then all that is left of it.
bool take_argument(Part &part, std::string_view word)
{
    if (part.text.size() <= word.size() || !is_word({part.text.substr(0, word.size()), 0}, word) ||
        !std::isspace(uint8_t(part.text[word.size()])))
        return false;
    part = split(part.from(word.size()), '\0').front();
    return true;
}

std::vector<Part> parts_of(const OptionText &option, size_t fewest)
{
    std::vector<Part> parts = split(without_quotes(require_value(option)), ',');
    if (parts.size() < fewest)
        throw RuleError(option.value.at, "\"" + std::string(option.name.text) + "\" requires " +
                                             std::to_string(fewest) + " values");
    return parts;
}

[[noreturn]] void refuse_modifier(Part part)
{
    throw RuleError(part.at, is_word(part, "dce")
                                 ? "\"dce\" requires a DCE/RPC decoder, which does not exist"
                                 : "unknown modifier \"" + std::string(part.text) + "\"");
}

// The modifiers that all of these options have.
bool apply_common(Part part, Extraction &extraction)
{
    if (is_word(part, "relative"))
        return extraction.is_relative = true;
    if (is_word(part, "big"))
        return true;
    if (is_word(part, "little"))
        return extraction.is_little_endian = true;
    if (is_word(part, "string"))
        return extraction.is_text = true;
    if (is_word(part, "hex"))
        return (extraction.base = 16) != 0;
    if (is_word(part, "dec"))
        return (extraction.base = 10) != 0;
    if (is_word(part, "oct"))
        return (extraction.base = 8) != 0;
    if (take_argument(part, "bitmask")) {
        const std::string digits =
            "0x" + std::string(part.text.starts_with("0x") || part.text.starts_with("0X")
                                   ? part.text.substr(2)
                                   : part.text);
        extraction.bitmask = uint32_t(number_of({digits, part.at}, 1, kLargest));
        return true;
    }
    return false;
}

void check_extraction(Part bytes, const Extraction &extraction)
{
    if (extraction.bytes > kMostBinaryBytes && !extraction.is_text)
        throw RuleError(bytes.at, "more than 4 bytes require \"string\"");
    if (extraction.base != 0 && !extraction.is_text)
        throw RuleError(bytes.at, "\"hex\", \"dec\" and \"oct\" require \"string\"");
}

ByteTest::Operator operator_of(Part part)
{
    using enum ByteTest::Operator;
    struct Name {
        std::string_view text;
        ByteTest::Operator value;
    };
    static constexpr std::array kNames = {
        Name{"<", kLess},    Name{"<=", kLessEqual}, Name{"=", kEqual}, Name{">=", kGreaterEqual},
        Name{">", kGreater}, Name{"&", kAnd},        Name{"^", kXor},   Name{"", kEqual}};
    for (const Name &name : kNames) {
        if (name.text == part.text)
            return name.value;
    }
    throw RuleError(part.at, "unknown operator \"" + std::string(part.text) + "\"");
}

void parse_byte_test(Parser &parser, const OptionText &option)
{
    const std::vector<Part> parts = parts_of(option, 4);
    ByteTest test;
    test.extraction.bytes = uint32_t(number_of(parts[0], 1, kMostTextBytes));
    Part comparison = parts[1];
    test.is_negated = take_negation(comparison);
    if (comparison.is_empty() && !test.is_negated)
        throw RuleError(comparison.at, "an operator is expected");
    test.comparison = operator_of(comparison);
    test.value = parser.number_or_variable(parts[2], 0, kLargest);
    test.extraction.offset = parser.number_or_variable(parts[3], -kFarthest, kFarthest);
    for (size_t i = 4; i < parts.size(); ++i) {
        if (!apply_common(parts[i], test.extraction))
            refuse_modifier(parts[i]);
    }
    check_extraction(parts[0], test.extraction);
    parser.add_payload(test);
}

void apply_jump_modifier(Parser &parser, Part part, ByteJump &jump)
{
    if (apply_common(part, jump.extraction))
        return;
    if (is_word(part, "align"))
        jump.aligns = true;
    else if (is_word(part, "from_beginning"))
        jump.origin = ByteJump::Origin::kBeginning;
    else if (is_word(part, "from_end"))
        jump.origin = ByteJump::Origin::kEnd;
    else if (take_argument(part, "multiplier"))
        jump.multiplier = uint32_t(number_of(part, 1, kFarthest));
    else if (take_argument(part, "post_offset"))
        jump.post_offset = parser.number_or_variable(part, -kFarthest, kFarthest);
    else
        refuse_modifier(part);
}

void parse_byte_jump(Parser &parser, const OptionText &option)
{
    const std::vector<Part> parts = parts_of(option, 2);
    ByteJump jump;
    jump.extraction.bytes = uint32_t(number_of(parts[0], 0, kMostTextBytes));
    jump.extraction.offset = parser.number_or_variable(parts[1], -kFarthest, kFarthest);
    for (size_t i = 2; i < parts.size(); ++i)
        apply_jump_modifier(parser, parts[i], jump);
    check_extraction(parts[0], jump.extraction);
    parser.add_payload(jump);
}

void parse_byte_extract(Parser &parser, const OptionText &option)
{
    const std::vector<Part> parts = parts_of(option, 3);
    ByteExtract extract;
    extract.extraction.bytes = uint32_t(number_of(parts[0], 1, kMostTextBytes));
    extract.extraction.offset = {number_of(parts[1], -kFarthest, kFarthest)};
    for (size_t i = 3; i < parts.size(); ++i) {
        Part part = parts[i];
        if (apply_common(part, extract.extraction))
            continue;
        if (take_argument(part, "multiplier"))
            extract.multiplier = uint32_t(number_of(part, 1, kFarthest));
        else if (take_argument(part, "align"))
            extract.alignment = uint32_t(number_of(part, 2, 4));
        else
            refuse_modifier(part);
    }
    if (extract.alignment == 3)
        throw RuleError(option.value.at, "\"align\" is 2 or 4");
    if (extract.extraction.offset.value < 0 && !extract.extraction.is_relative)
        throw RuleError(parts[1].at, "a negative offset requires \"relative\"");
    check_extraction(parts[0], extract.extraction);
    if (extract.extraction.is_text && extract.extraction.base == 0)
        extract.extraction.base = 10;
    extract.variable = parser.declare_variable(parts[2]);
    parser.add_payload(extract);
}

void parse_isdataat(Parser &parser, const OptionText &option)
{
    Part value = without_quotes(require_value(option));
    DataAt test;
    test.is_negated = take_negation(value);
    const std::vector<Part> parts = split(value, ',');
    test.offset = parser.number_or_variable(parts[0], -kFarthest, kFarthest);
    for (size_t i = 1; i < parts.size(); ++i) {
        if (is_word(parts[i], "relative"))
            test.is_relative = true;
        else if (is_word(parts[i], "rawbytes"))
            test.is_raw = true;
        else
            refuse_modifier(parts[i]);
    }
    parser.add_payload(test);
}

constexpr std::array kOptions = {
    OptionParser{"byte_test", parse_byte_test},
    OptionParser{"byte_jump", parse_byte_jump},
    OptionParser{"byte_extract", parse_byte_extract},
    OptionParser{"isdataat", parse_isdataat},
};
} // namespace

ParseOption find_byte_option(std::string_view name)
{
    return find_in(kOptions, name);
}
} // namespace mapi::match::rule
