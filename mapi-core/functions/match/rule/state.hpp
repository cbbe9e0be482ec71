// SPDX-License-Identifier: MIT
// State: what the options before have left to the next one: a cursor, a buffer, variables.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "match/rule/options.hpp"
#include "match/rule/packet_texts.hpp"

namespace mapi::match::rule
{
struct State {
    using Bytes = std::span<const uint8_t>;

    Buffer chosen = Buffer::kPayload; // what Buffer::kCurrent means
    Buffer cursor_buffer = Buffer::kPayload;
    bool has_cursor = false;
    uint32_t cursor = 0; // at most the buffer's length
    std::array<uint32_t, kVariables> variables = {};

    int64_t value_of(const Number &number) const
    {
        return number.variable < 0 ? number.value
                                   : int64_t(int32_t(variables[size_t(number.variable)]));
    }
    void set_cursor(Buffer buffer, size_t at)
    {
        cursor_buffer = buffer;
        cursor = uint32_t(at);
        has_cursor = true;
    }
    // The bytes that an option which reads numbers looks at: those with the cursor if it is
    // relative.
    Buffer buffer_of(bool is_relative) const
    {
        return is_relative && has_cursor ? cursor_buffer : chosen;
    }
};

// Evaluates an option that can match in one way only; false: it does not match.
bool apply(const ByteTest &option, PacketTexts &texts, State &state);
bool apply(const ByteJump &option, PacketTexts &texts, State &state);
bool apply(const ByteExtract &option, PacketTexts &texts, State &state);
bool apply(const ByteMath &option, PacketTexts &texts, State &state);
bool apply(const DataAt &option, PacketTexts &texts, State &state);
bool apply(const ChooseBuffer &option, PacketTexts &texts, State &state);
bool apply(const Base64Decode &option, PacketTexts &texts, State &state);
bool apply(const Rpc &option, PacketTexts &texts, State &state);
bool apply(const FtpBounce &option, PacketTexts &texts, State &state);
bool apply(const SipMethod &option, PacketTexts &texts, State &state);
bool apply(const SipStatus &option, PacketTexts &texts, State &state);
bool apply(const Asn1 &option, PacketTexts &texts, State &state);
} // namespace mapi::match::rule
