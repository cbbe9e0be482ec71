// SPDX-License-Identifier: MIT
// SIP message: a payload -> the parts of the SIP request or response that it begins with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace mapi::match::rule
{
// Views of the payload.
struct SipMessage {
    using Bytes = std::span<const uint8_t>;

    std::string_view method = {}; // empty: a response
    uint32_t status = 0;          // of a response; 0: not a number of three digits
    Bytes header = {};            // from the start line to the empty line, with both
    Bytes body = {};              // the rest, if the message announces a body
};

// Nullopt: the payload does not begin like one.
std::optional<SipMessage> read_sip(std::span<const uint8_t> payload);
} // namespace mapi::match::rule
