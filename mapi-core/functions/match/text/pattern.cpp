// SPDX-License-Identifier: MIT
// STR_SEARCH pattern text -> the byte strings that it stands for.
#include "pattern.hpp"

#include "match/errors.hpp"

namespace mapi::match
{
namespace
{
int hex_value(char digit)
{
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    if (digit >= 'a' && digit <= 'f')
        return digit - 'a' + 10;
    if (digit >= 'A' && digit <= 'F')
        return digit - 'A' + 10;
    return -1;
}

std::string place(std::string_view text, size_t at)
{
    return " at character " + std::to_string(at + 1) + " of \"" + std::string(text) + "\"";
}

// Reads the block whose opening pipe is at `open`; returns the index after its closing pipe.
size_t append_hex_block(std::string_view text, size_t open, std::string &bytes)
{
    const size_t close = text.find('|', open + 1);
    if (close == std::string_view::npos)
        throw PatternError(PatternFault::kUnterminatedPipe,
                           "hex block without a closing pipe" + place(text, open));
    const size_t bytes_before = bytes.size();
    for (size_t at = open + 1; at < close;) {
        if (text[at] == ' ' || text[at] == '\t') {
            ++at;
            continue;
        }
        const int high = hex_value(text[at]);
        const int low = at + 1 < close ? hex_value(text[at + 1]) : -1;
        if (high < 0 || low < 0)
            throw PatternError(PatternFault::kInvalid, "two hex digits expected" + place(text, at));
        bytes.push_back(char(high << 4 | low));
        at += 2;
    }
    if (bytes.size() == bytes_before)
        throw PatternError(PatternFault::kInvalid, "empty hex block" + place(text, open));
    return close + 1;
}

bool starts_with(std::string_view text, size_t at, std::string_view what)
{
    return text.substr(at, what.size()) == what;
}
} // namespace

std::vector<std::string> parse_pattern(std::string_view text)
{
    std::vector<std::string> alternatives;
    std::string current;
    const auto finish = [&](size_t at) {
        if (current.empty())
            throw PatternError(PatternFault::kInvalid, "empty search string" + place(text, at));
        alternatives.push_back(std::move(current));
        current.clear();
    };
    size_t at = 0;
    while (at < text.size()) {
        if (starts_with(text, at, "\\|")) {
            current.push_back('|');
            at += 2;
        } else if (starts_with(text, at, "||")) {
            finish(at);
            at += 2;
        } else if (text[at] == '|') {
            at = append_hex_block(text, at, current);
        } else {
            current.push_back(text[at++]);
        }
    }
    finish(at);
    return alternatives;
}
} // namespace mapi::match
