// SPDX-License-Identifier: MIT
// Options that look at what a protocol has in the payload: SIP messages, ASN.1 elements.
#include <algorithm>
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
constexpr size_t kMostCodes = 20;

void parse_sip_method(Parser &parser, const OptionText &option)
{
    const std::vector<Part> parts = split(without_quotes(require_value(option)), ',');
    SipMethod method;
    for (Part part : parts) {
        const bool is_negated = take_negation(part);
        if (is_negated && parts.size() > 1)
            throw RuleError(part.at, "only a method that is alone can be negated");
        if (part.is_empty() || part.text.find_first_of(" \t") != part.text.npos)
            throw RuleError(part.at, "the name of a method is expected");
        method.is_negated = is_negated;
        std::string &name = method.names.emplace_back(part.text);
        std::ranges::transform(name, name.begin(),
                               [](char letter) { return char(std::tolower(uint8_t(letter))); });
    }
    parser.add_payload(std::move(method));
}

void parse_sip_status(Parser &parser, const OptionText &option)
{
    constexpr int64_t kFirst = 100, kLast = 999, kLastOfOneDigit = 9;
    SipStatus status;
    for (const Part &part : split(without_quotes(require_value(option)), ',')) {
        const int64_t code = number_of(part, 1, kLast);
        if (code > kLastOfOneDigit && code < kFirst)
            throw RuleError(part.at, "a status code has three digits, or one");
        if (status.codes.size() == kMostCodes)
            throw RuleError(part.at, "more than " + std::to_string(kMostCodes) + " status codes");
        status.codes.push_back(uint32_t(code));
    }
    parser.add_payload(std::move(status));
}

void parse_sip_buffer(Parser &parser, const OptionText &option)
{
    require_no_value(option);
    parser.add_payload(
        ChooseBuffer{option.name.text == "sip_header" ? Buffer::kSipHeader : Buffer::kSipBody});
}

// The number after a word, which a blank or a comma separates.
Part argument_of(const std::vector<Part> &words, size_t &at)
{
    if (at + 1 == words.size())
        throw RuleError(words[at].at, "\"" + std::string(words[at].text) + "\" requires a number");
    return words[++at];
}

std::vector<Part> words_of(Part list)
{
    std::vector<Part> words;
    for (const Part &part : split(list, ',')) {
        for (const Part &word : split(part, ' ')) {
            if (!word.is_empty())
                words.push_back(word);
        }
    }
    return words;
}

void parse_asn1(Parser &parser, const OptionText &option)
{
    Asn1 asn1;
    bool prints = false;
    const std::vector<Part> words = words_of(without_quotes(require_value(option)));
    for (size_t i = 0; i < words.size(); ++i) {
        const std::string_view word = words[i].text;
        if (word == "bitstring_overflow") {
            asn1.finds_bit_strings = true;
        } else if (word == "double_overflow") {
            asn1.finds_doubles = true;
        } else if (word == "print") {
            prints = true;
        } else if (word == "oversize_length") {
            asn1.longest = uint32_t(number_of(argument_of(words, i), 0, INT32_MAX));
        } else if (word == "absolute_offset" || word == "relative_offset") {
            asn1.is_relative = word == "relative_offset";
            asn1.offset = number_of(argument_of(words, i), -kFarthest, kFarthest);
        } else {
            throw RuleError(words[i].at,
                            "\"" + std::string(word) +
                                "\" is none of bitstring_overflow, double_overflow, "
                                "oversize_length, absolute_offset, relative_offset and print");
        }
    }
    const bool checks = asn1.finds_bit_strings || asn1.finds_doubles || asn1.longest;
    if (!checks && !prints)
        throw RuleError(option.value.at, "\"asn1\" requires a check");
    asn1.finds_all = !checks;
    parser.add_payload(asn1);
}

constexpr std::array kOptions = {
    OptionParser{"sip_method", parse_sip_method},
    OptionParser{"sip_stat_code", parse_sip_status},
    OptionParser{"sip_header", parse_sip_buffer},
    OptionParser{"sip_body", parse_sip_buffer},
    OptionParser{"asn1", parse_asn1},
};
} // namespace

ParseOption find_protocol_option(std::string_view name)
{
    return find_in(kOptions, name);
}
} // namespace mapi::match::rule
