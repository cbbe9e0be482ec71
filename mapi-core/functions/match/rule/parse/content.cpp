// SPDX-License-Identifier: MIT
// Options: content, uricontent and their modifiers; pcre.
#include <array>
#include <optional>

#include "match/rule/parse/parser.hpp"
#include "match/rule/regular_expression.hpp"
#include "match/rule/rule_error.hpp"
#include "match/text/folded_text.hpp"

namespace mapi::match::rule
{
namespace
{
constexpr int64_t kFarthest = 65535;

void parse_content(Parser &parser, const OptionText &option)
{
    Part value = require_value(option);
    Content content;
    content.is_negated = take_negation(value);
    content.text = bytes_of(value);
    if (content.text.empty())
        throw RuleError(value.at, "the content is empty");
    if (option.name.text == "uricontent")
        content.buffer = Buffer::kUri;
    parser.add_content(std::move(content), option.name.at);
}

void parse_nocase(Parser &parser, const OptionText &option)
{
    require_no_value(option);
    Content &content = parser.content_before(option);
    content.ignores_case = true;
    fold(content.text);
}

// offset, depth, distance, within.
void parse_window(Parser &parser, const OptionText &option)
{
    Content &content = parser.content_before(option);
    const std::string_view name = option.name.text;
    std::optional<Number> &place = name == "offset"     ? content.offset
                                   : name == "depth"    ? content.depth
                                   : name == "distance" ? content.distance
                                                        : content.within;
    if (place)
        throw RuleError(option.name.at, "the content has this modifier already");
    const bool is_length = name == "depth" || name == "within";
    place = parser.number_or_variable(without_quotes(require_value(option)),
                                      is_length ? 1 : -kFarthest, kFarthest);
    content.is_relative |= name == "distance" || name == "within";
}

void parse_rawbytes(Parser &parser, const OptionText &option)
{
    require_no_value(option);
    parser.content_before(option).buffer = Buffer::kPayload;
}

void parse_fast_pattern(Parser &parser, const OptionText &option)
{
    Content &content = parser.content_before(option);
    content.is_fast_pattern = true;
    if (!option.has_value || option.value.text == "only")
        return;
    const std::vector<Part> range = split(option.value, ',');
    if (range.size() != 2)
        throw RuleError(option.value.at, "\"only\", or an offset and a length, are expected");
    const auto size = int64_t(content.text.size());
    const int64_t offset = number_of(range[0], 0, size);
    number_of(range[1], 1, size - offset);
}

struct HttpBuffer {
    std::string_view name;
    Buffer buffer;
};
constexpr std::array kHttpBuffers = {
    HttpBuffer{"http_uri", Buffer::kUri},
    HttpBuffer{"http_raw_uri", Buffer::kRawUri},
    HttpBuffer{"http_header", Buffer::kHeader},
    HttpBuffer{"http_raw_header", Buffer::kRawHeader},
    HttpBuffer{"http_method", Buffer::kMethod},
    HttpBuffer{"http_cookie", Buffer::kCookie},
    HttpBuffer{"http_raw_cookie", Buffer::kRawCookie},
    HttpBuffer{"http_client_body", Buffer::kClientBody},
    HttpBuffer{"http_stat_code", Buffer::kStatusCode},
    HttpBuffer{"http_stat_msg", Buffer::kStatusText},
};

void parse_http_buffer(Parser &parser, const OptionText &option)
{
    require_no_value(option);
    Content &content = parser.content_before(option);
    if (content.buffer != Buffer::kCurrent)
        throw RuleError(option.name.at, "the content has a buffer already");
    for (const HttpBuffer &entry : kHttpBuffers) {
        if (entry.name == option.name.text)
            content.buffer = entry.buffer;
    }
}

// Sets what a letter after the expression means.  False: it means nothing.
bool apply_flag(char letter, ExpressionFlags &flags, Expression &expression)
{
    const auto search = [&](Buffer buffer) {
        expression.buffer = buffer;
        return true;
    };
    switch (letter) {
    case 'i': return flags.ignores_case = true;
    case 's': return flags.dot_matches_newline = true;
    case 'm': return flags.has_lines = true;
    case 'x': return flags.is_extended = true;
    case 'A': return flags.is_anchored = true;
    case 'E': return flags.dollar_is_end = true;
    case 'G': return flags.is_ungreedy = true;
    case 'R': return expression.is_relative = true;
    case 'U': return search(Buffer::kUri);
    case 'I': return search(Buffer::kRawUri);
    case 'P': return search(Buffer::kClientBody);
    case 'H': return search(Buffer::kHeader);
    case 'D': return search(Buffer::kRawHeader);
    case 'M': return search(Buffer::kMethod);
    case 'C': return search(Buffer::kCookie);
    case 'K': return search(Buffer::kRawCookie);
    case 'S': return search(Buffer::kStatusCode);
    case 'Y': return search(Buffer::kStatusText);
    case 'B': return search(Buffer::kPayload);
    case 'O': return true; // Snort's limits, which do not exist here
    default: return false;
    }
}

void parse_pcre(Parser &parser, const OptionText &option)
{
    Part value = require_value(option);
    Expression expression;
    expression.is_negated = take_negation(value);
    value = without_quotes(value);
    if (!expression.is_negated)
        expression.is_negated = take_negation(value);
    if (value.text.starts_with('m'))
        value = value.from(1);
    const size_t end = value.text.size() < 2 ? 0 : value.text.rfind(value.text.front());
    if (end == 0)
        throw RuleError(value.at, "an expression between slashes is expected");
    ExpressionFlags flags;
    for (size_t i = end + 1; i < value.text.size(); ++i) {
        const Buffer before = expression.buffer;
        if (!apply_flag(value.text[i], flags, expression))
            throw RuleError(value.at + i, "unknown flag of an expression");
        if (before != Buffer::kCurrent && before != expression.buffer)
            throw RuleError(value.at + i, "the expression has a buffer already");
    }
    if (is_http(expression.buffer) && expression.is_relative)
        throw RuleError(value.at + end, "R cannot be combined with an HTTP buffer");
    expression.code =
        std::make_shared<RegularExpression>(value.text.substr(1, end - 1), value.at + 1, flags);
    parser.add_payload(std::move(expression));
}

constexpr std::array kModifiers = {
    OptionParser{"content", parse_content},
    OptionParser{"uricontent", parse_content},
    OptionParser{"nocase", parse_nocase},
    OptionParser{"offset", parse_window},
    OptionParser{"depth", parse_window},
    OptionParser{"distance", parse_window},
    OptionParser{"within", parse_window},
    OptionParser{"rawbytes", parse_rawbytes},
    OptionParser{"fast_pattern", parse_fast_pattern},
};
constexpr std::array kExpressions = {OptionParser{"pcre", parse_pcre}};
} // namespace

ParseOption find_content_option(std::string_view name)
{
    for (const HttpBuffer &entry : kHttpBuffers) {
        if (entry.name == name)
            return parse_http_buffer;
    }
    return find_in(kModifiers, name);
}

ParseOption find_expression_option(std::string_view name)
{
    return find_in(kExpressions, name);
}
} // namespace mapi::match::rule
