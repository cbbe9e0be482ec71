// SPDX-License-Identifier: MIT
// Options that read numbers in the payload: byte_test, byte_jump, byte_extract, byte_math,
// isdataat.
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

ByteMath::Operator math_operator_of(Part part)
{
    using enum ByteMath::Operator;
    struct Name {
        std::string_view text;
        ByteMath::Operator value;
    };
    static constexpr std::array kNames = {Name{"+", kAdd},        Name{"-", kSubtract},
                                          Name{"*", kMultiply},   Name{"/", kDivide},
                                          Name{"<<", kShiftLeft}, Name{">>", kShiftRight}};
    for (const Name &name : kNames) {
        if (name.text == part.text)
            return name.value;
    }
    throw RuleError(part.at, "unknown operator \"" + std::string(part.text) + "\"");
}

// The values of byte_math have names and any order.
class MathParser
{
public:
    explicit MathParser(Parser &parser) : parser_(parser) {}

    void take(Part part)
    {
        for (const Value &value : kValues) {
            Part argument = part;
            if (!take_argument(argument, value.name))
                continue;
            Part &place = this->*value.place;
            if (!place.is_empty())
                throw RuleError(part.at, "a second \"" + std::string(value.name) + "\"");
            place = argument;
            return;
        }
        if (part.text.starts_with("oper") && oper_.is_empty()) // "oper+" as well as "oper +"
            oper_ = part.from(4);
        else if (!apply_common(part, math_.extraction))
            refuse_modifier(part);
    }

    // `at`: of the option's value.
    ByteMath finish(size_t at)
    {
        for (const Value &value : kValues) {
            if (value.is_required && (this->*value.place).is_empty())
                throw RuleError(at, "\"byte_math\" requires \"" + std::string(value.name) + "\"");
        }
        math_.operation = math_operator_of(oper_);
        const bool shifts = math_.operation == ByteMath::Operator::kShiftLeft ||
                            math_.operation == ByteMath::Operator::kShiftRight;
        math_.extraction.bytes =
            uint32_t(number_of(bytes_, 1, shifts ? int64_t{kMostBinaryBytes} : kMostTextBytes));
        math_.extraction.offset = parser_.number_or_variable(offset_, -kFarthest, kFarthest);
        math_.operand = parser_.number_or_variable(rvalue_, 1, shifts ? kMostShift : kLargest);
        for (const Part &word : {endian_, string_}) {
            if (!word.is_empty() && !apply_common(word, math_.extraction))
                refuse_modifier(word);
        }
        math_.extraction.is_text |= !string_.is_empty();
        check_extraction(bytes_, math_.extraction);
        math_.variable = parser_.declare_variable(result_);
        return math_;
    }

private:
    static constexpr int64_t kMostShift = 32;

    struct Value {
        std::string_view name;
        Part MathParser::*place;
        bool is_required;
    };
    static const std::array<Value, 7> kValues;

    Parser &parser_;
    ByteMath math_;
    Part bytes_, offset_, oper_, rvalue_, result_, endian_, string_;
};

const std::array<MathParser::Value, 7> MathParser::kValues = {{
    {"bytes", &MathParser::bytes_, true},
    {"offset", &MathParser::offset_, true},
    {"oper", &MathParser::oper_, true},
    {"rvalue", &MathParser::rvalue_, true},
    {"result", &MathParser::result_, true},
    {"endian", &MathParser::endian_, false},
    {"string", &MathParser::string_, false},
}};

void parse_byte_math(Parser &parser, const OptionText &option)
{
    MathParser math(parser);
    for (const Part &part : split(without_quotes(require_value(option)), ','))
        math.take(part);
    parser.add_payload(math.finish(option.value.at));
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
    OptionParser{"byte_test", parse_byte_test},       OptionParser{"byte_jump", parse_byte_jump},
    OptionParser{"byte_extract", parse_byte_extract}, OptionParser{"byte_math", parse_byte_math},
    OptionParser{"isdataat", parse_isdataat},
};
} // namespace

ParseOption find_byte_option(std::string_view name)
{
    return find_in(kOptions, name);
}
} // namespace mapi::match::rule
