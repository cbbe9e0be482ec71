// SPDX-License-Identifier: MIT
// Options that test numbers in the headers, and lengths.
#include <array>
#include <cctype>
#include <netdb.h>
#include <optional>
#include <string>

#include "match/rule/packet_fields.hpp"
#include "match/rule/parse/parser.hpp"
#include "match/rule/rule_error.hpp"

namespace mapi::match::rule
{
namespace
{
using Comparison = FieldTest::Comparison;

constexpr int64_t kLargest = UINT32_MAX;

struct NumberOption {
    std::string_view name;
    Field field;
    int64_t largest;
    Comparison range; // what "a<>b" means
};
constexpr std::array kNumberOptions = {
    NumberOption{"dsize", Field::kPayloadBytes, 65535, Comparison::kWithin},
    NumberOption{"seq", Field::kTcpSequence, kLargest, Comparison::kWithin},
    NumberOption{"ack", Field::kTcpAcknowledgement, kLargest, Comparison::kWithin},
    NumberOption{"window", Field::kTcpWindow, 65535, Comparison::kWithin},
    NumberOption{"ttl", Field::kTtl, 255, Comparison::kWithin},
    NumberOption{"tos", Field::kTos, 255, Comparison::kWithin},
    NumberOption{"ip_id", Field::kIpId, 65535, Comparison::kWithin},
    NumberOption{"fragoffset", Field::kFragmentOffset, 8191, Comparison::kWithin},
    NumberOption{"itype", Field::kIcmpType, 255, Comparison::kBetween},
    NumberOption{"icode", Field::kIcmpCode, 255, Comparison::kBetween},
    NumberOption{"icmp_id", Field::kIcmpId, 65535, Comparison::kWithin},
    NumberOption{"icmp_seq", Field::kIcmpSequence, 65535, Comparison::kWithin},
};

Part skip(Part part, size_t bytes)
{
    return split(part.from(bytes), '\0').front();
}

// Takes an operator before the number; equality if there is none.
Comparison take_comparison(Part &value)
{
    struct Name {
        std::string_view text;
        Comparison comparison;
    };
    static constexpr std::array kNames = {
        Name{"<=", Comparison::kLessEqual}, Name{">=", Comparison::kGreaterEqual},
        Name{"<", Comparison::kLess},       Name{">", Comparison::kGreater},
        Name{"!", Comparison::kNotEqual},   Name{"=", Comparison::kEqual},
    };
    for (const Name &name : kNames) {
        if (!value.text.starts_with(name.text))
            continue;
        value = skip(value, name.text.size());
        return name.comparison;
    }
    return Comparison::kEqual;
}

// N, an operator and N, or two numbers with "<>" between them.
FieldTest number_test(Part value, Field field, int64_t largest, Comparison range)
{
    const size_t between = value.text.find("<>");
    if (between == std::string_view::npos) {
        const Comparison comparison = take_comparison(value);
        return {field, comparison, uint32_t(number_of(value, 0, largest))};
    }
    const Part low = split({value.text.substr(0, between), value.at}, '\0').front();
    const auto first = uint32_t(number_of(low, 0, largest));
    const auto second = uint32_t(number_of(skip(value, between + 2), 0, largest));
    if (first > second)
        throw RuleError(value.at, "the range is empty");
    return {field, range, first, second};
}

// "5-10", "-5" and "5-" as well.
std::optional<FieldTest> ttl_range(Part value)
{
    const size_t dash = value.text.find('-');
    if (dash == std::string_view::npos)
        return std::nullopt;
    const Part low = split({value.text.substr(0, dash), value.at}, '\0').front();
    const Part high = skip(value, dash + 1);
    return FieldTest{Field::kTtl, Comparison::kWithin,
                     low.is_empty() ? 0 : uint32_t(number_of(low, 0, 255)),
                     high.is_empty() ? 255 : uint32_t(number_of(high, 0, 255))};
}

void parse_number(Parser &parser, const OptionText &option)
{
    const Part value = without_quotes(require_value(option));
    for (const NumberOption &entry : kNumberOptions) {
        if (entry.name != option.name.text)
            continue;
        if (const auto range = entry.field == Field::kTtl ? ttl_range(value) : std::nullopt)
            parser.add_field(*range);
        else
            parser.add_field(number_test(value, entry.field, entry.largest, entry.range));
    }
}

struct Letter {
    char letter;
    uint32_t bit;
};
constexpr std::array kTcpFlags = {
    Letter{'F', 0x01}, Letter{'S', 0x02}, Letter{'R', 0x04}, Letter{'P', 0x08},
    Letter{'A', 0x10}, Letter{'U', 0x20}, Letter{'E', 0x40}, Letter{'2', 0x40},
    Letter{'C', 0x80}, Letter{'1', 0x80}, Letter{'0', 0x00},
};
constexpr std::array kFragmentBits = {Letter{'R', 0x8000}, Letter{'D', 0x4000},
                                      Letter{'M', 0x2000}};

// A set of letters with `+`, `*` or `!` at any place.
template <size_t count>
FieldTest bits_test(Part value, Field field, const std::array<Letter, count> &letters)
{
    FieldTest test = {field, Comparison::kBitsAre};
    for (size_t i = 0; i < value.text.size(); ++i) {
        const auto letter = char(std::toupper(uint8_t(value.text[i])));
        if (letter == ' ')
            continue;
        if (letter == '+')
            test.comparison = Comparison::kAllBits;
        else if (letter == '*')
            test.comparison = Comparison::kAnyBit;
        else if (letter == '!')
            test.comparison = Comparison::kNoBit;
        else {
            size_t known = 0;
            while (known < count && letters[known].letter != letter)
                ++known;
            if (known == count)
                throw RuleError(value.at + i, "unknown flag");
            test.first |= letters[known].bit;
        }
    }
    return test;
}

void parse_flags(Parser &parser, const OptionText &option)
{
    const std::vector<Part> parts = split(without_quotes(require_value(option)), ',');
    if (parts.size() > 2)
        throw RuleError(parts[2].at, "flags, and flags to ignore, are expected");
    FieldTest test = bits_test(parts[0], Field::kTcpFlags, kTcpFlags);
    if (parts.size() == 2)
        test.second = bits_test(parts[1], Field::kTcpFlags, kTcpFlags).first;
    parser.add_field(test);
}

void parse_fragbits(Parser &parser, const OptionText &option)
{
    parser.add_field(
        bits_test(without_quotes(require_value(option)), Field::kFragmentBits, kFragmentBits));
}

void parse_ipopts(Parser &parser, const OptionText &option)
{
    struct Name {
        std::string_view text;
        uint32_t bits;
    };
    static constexpr std::array kNames = {
        Name{"rr", option_bit(7)},     Name{"eol", option_bit(0)},
        Name{"nop", option_bit(1)},    Name{"ts", option_bit(68)},
        Name{"sec", option_bit(130)},  Name{"esec", option_bit(133)},
        Name{"lsrr", option_bit(131)}, Name{"lsrre", option_bit(132)},
        Name{"ssrr", option_bit(137)}, Name{"satid", option_bit(136)},
        Name{"any", UINT32_MAX},
    };
    const Part value = without_quotes(require_value(option));
    for (const Name &name : kNames) {
        if (name.text == value.text) {
            parser.add_field({Field::kIpOption, Comparison::kAnyBit, name.bits});
            return;
        }
    }
    throw RuleError(value.at, "unknown IP option \"" + std::string(value.text) + "\"");
}

void parse_ip_proto(Parser &parser, const OptionText &option)
{
    Part value = without_quotes(require_value(option));
    const Comparison comparison = take_comparison(value);
    if (number_if_any(value)) {
        parser.add_field({Field::kIpProtocol, comparison, uint32_t(number_of(value, 0, 255))});
        return;
    }
    protoent entry = {};
    protoent *found = nullptr;
    char buffer[4096];
    const std::string name(value.text);
    if (getprotobyname_r(name.c_str(), &entry, buffer, sizeof(buffer), &found) != 0 || !found)
        throw RuleError(value.at, "unknown protocol \"" + name + "\"");
    parser.add_field({Field::kIpProtocol, comparison, uint32_t(found->p_proto)});
}

void parse_sameip(Parser &parser, const OptionText &option)
{
    require_no_value(option);
    parser.add_field({Field::kHasSameAddresses, Comparison::kEqual, 1});
}

void parse_urilen(Parser &parser, const OptionText &option)
{
    const std::vector<Part> parts = split(without_quotes(require_value(option)), ',');
    if (parts.size() > 2 ||
        (parts.size() == 2 && parts[1].text != "norm" && parts[1].text != "raw"))
        throw RuleError(parts[1].at, "\"norm\" or \"raw\" is expected");
    const bool is_normalized = parts.size() == 2 && parts[1].text == "norm";
    parser.add_field(number_test(parts[0], is_normalized ? Field::kUriBytes : Field::kRawUriBytes,
                                 65535, Comparison::kWithin));
}

constexpr std::array kOptions = {
    OptionParser{"flags", parse_flags},   OptionParser{"fragbits", parse_fragbits},
    OptionParser{"ipopts", parse_ipopts}, OptionParser{"ip_proto", parse_ip_proto},
    OptionParser{"sameip", parse_sameip}, OptionParser{"urilen", parse_urilen},
};
} // namespace

ParseOption find_field_option(std::string_view name)
{
    for (const NumberOption &entry : kNumberOptions) {
        if (entry.name == name)
            return parse_number;
    }
    return find_in(kOptions, name);
}
} // namespace mapi::match::rule
