// SPDX-License-Identifier: MIT
// Apply: sip_method, sip_stat_code, asn1.
#include <algorithm>
#include <cctype>

#include "match/rule/formats/ber.hpp"
#include "match/rule/state.hpp"

namespace mapi::match::rule
{
namespace
{
using Bytes = std::span<const uint8_t>;

bool is_name(std::string_view method, std::string_view lower)
{
    return std::ranges::equal(
        method, lower, [](char one, char other) { return std::tolower(uint8_t(one)) == other; });
}

// More bits are said to be unused than there are.
bool is_bad_bit_string(const ber::Element &element, Bytes bytes)
{
    constexpr uint32_t kBitString = 3;
    return element.tag == kBitString && !element.is_constructed && element.has_content &&
           element.length > 0 && (element.length - 1) << 3 < bytes[element.content];
}

// The first bits say that it is written in decimal.
bool is_long_double(const ber::Element &element, Bytes bytes)
{
    constexpr uint32_t kReal = 9, kLongest = 256;
    return element.tag == kReal && !element.is_constructed && element.has_content &&
           element.length > kLongest && (bytes[element.content] & 0xc0) == 0;
}

bool finds(const Asn1 &option, const ber::Element &element, Bytes bytes)
{
    return (option.finds_bit_strings && is_bad_bit_string(element, bytes)) ||
           (option.finds_doubles && is_long_double(element, bytes)) ||
           (option.longest.value_or(0) > 0 && element.length >= *option.longest);
}
} // namespace

bool apply(const SipMethod &option, PacketTexts &texts, State &)
{
    const SipMessage *const message = texts.sip();
    if (!message || message->method.empty())
        return false;
    return std::ranges::any_of(option.names, [&](const std::string &name) {
               return is_name(message->method, name);
           }) != option.is_negated;
}

bool apply(const SipStatus &option, PacketTexts &texts, State &)
{
    const SipMessage *const message = texts.sip();
    if (!message || message->status == 0)
        return false;
    return std::ranges::any_of(option.codes, [&](uint32_t code) {
        return code == message->status || code == message->status / 100;
    });
}

bool apply(const Asn1 &option, PacketTexts &texts, State &state)
{
    const Bytes payload = texts.fields().payload();
    int64_t place = option.offset;
    if (option.is_relative) {
        if (!state.has_cursor || state.cursor_buffer != Buffer::kPayload)
            return false;
        place += state.cursor;
    }
    if (place < 0 || place >= int64_t(payload.size()))
        return false;
    const Bytes bytes = payload.subspan(size_t(place));
    ber::Reader reader(bytes);
    const ber::Outcome outcome = reader.read();
    return option.finds_all || (option.longest && outcome == ber::Outcome::kTooLong) ||
           std::ranges::any_of(reader.elements(), [&](const ber::Element &element) {
               return finds(option, element, bytes);
           });
}
} // namespace mapi::match::rule
