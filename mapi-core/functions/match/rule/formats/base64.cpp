// SPDX-License-Identifier: MIT
// Base64: four characters make three bytes.
#include "match/rule/formats/base64.hpp"

namespace mapi::match::rule
{
namespace
{
constexpr size_t kMostDecoded = 65536;

// -1: not a character of base64.
int value_of(uint8_t letter)
{
    if (letter >= 'A' && letter <= 'Z')
        return letter - 'A';
    if (letter >= 'a' && letter <= 'z')
        return letter - 'a' + 26;
    if (letter >= '0' && letter <= '9')
        return letter - '0' + 52;
    return letter == '+' ? 62 : letter == '/' ? 63 : -1;
}

// The place after a folded line break at `at`, or `at` if there is none; the end of the text if
// the line is not continued.
size_t skip_fold(std::span<const uint8_t> text, size_t at)
{
    if (text[at] != '\r' && text[at] != '\n')
        return at;
    size_t next = at + 1;
    if (text[at] == '\r' && next < text.size() && text[next] == '\n')
        ++next;
    const bool continues = next < text.size() && (text[next] == ' ' || text[next] == '\t');
    if (!continues)
        return text.size();
    while (next < text.size() && (text[next] == ' ' || text[next] == '\t'))
        ++next;
    return next;
}
} // namespace

void decode_base64(std::span<const uint8_t> encoded, uint32_t most_bytes,
                   std::vector<uint8_t> &decoded)
{
    decoded.clear();
    uint32_t word = 0, taken = 0;
    for (size_t at = 0; at < encoded.size() && decoded.size() < kMostDecoded;) {
        if (const size_t next = skip_fold(encoded, at); next != at) {
            at = next;
            continue;
        }
        const int value = value_of(encoded[at++]);
        if (value < 0 || (most_bytes != 0 && taken == most_bytes))
            break;
        word = word << 6 | uint32_t(value);
        ++taken;
        if (const uint32_t in_group = taken % 4; in_group != 1)
            decoded.push_back(uint8_t(word >> (in_group == 0 ? 0 : 6 - 2 * (in_group - 1))));
    }
}
} // namespace mapi::match::rule
