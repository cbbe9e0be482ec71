// SPDX-License-Identifier: MIT
// Apply: file_data, pkt_data, base64_decode, base64_data, rpc, ftpbounce.
#include <algorithm>
#include <cctype>

#include "match/rule/state.hpp"

namespace mapi::match::rule
{
namespace
{
using Bytes = std::span<const uint8_t>;

uint32_t big_32(Bytes bytes, size_t at)
{
    return uint32_t(bytes[at]) << 24 | uint32_t(bytes[at + 1]) << 16 |
           uint32_t(bytes[at + 2]) << 8 | bytes[at + 3];
}

// The address in the arguments of FTP's PORT, as in "127,0,0,1,".
std::optional<uint32_t> port_address(Bytes text)
{
    size_t at = 0;
    while (at < text.size() && std::isspace(text[at]))
        ++at;
    uint32_t address = 0;
    for (int octet = 0; octet < 4; ++octet) {
        uint32_t value = 0;
        const size_t begin = at;
        for (; at < text.size() && std::isdigit(text[at]); ++at) {
            value = value * 10 + (text[at] - '0');
            if (value > 255)
                return std::nullopt;
        }
        const bool has_end = octet == 3
                                 ? at == text.size() || text[at] == ',' || std::isspace(text[at])
                                 : at < text.size() && text[at] == ',';
        if (at == begin || !has_end)
            return std::nullopt;
        ++at;
        address = address << 8 | value;
    }
    return address;
}
} // namespace

bool apply(const ChooseBuffer &option, PacketTexts &texts, State &state)
{
    const auto buffer = texts.text(option.buffer);
    if (!buffer || (option.buffer != Buffer::kPayload && buffer->empty()))
        return false;
    state.chosen = option.buffer;
    state.has_cursor = false;
    if (option.buffer != Buffer::kPayload)
        state.set_cursor(option.buffer, 0);
    return true;
}

bool apply(const Base64Decode &option, PacketTexts &texts, State &state)
{
    const Buffer name = option.is_relative ? state.buffer_of(true) : Buffer::kPayload;
    const auto buffer = texts.text(name);
    if (!buffer)
        return false;
    const size_t begin =
        (option.is_relative && state.has_cursor ? state.cursor : 0) + size_t(option.offset);
    return begin < buffer->size() && texts.decode_base64(buffer->subspan(begin), option.bytes);
}

bool apply(const Rpc &option, PacketTexts &texts, State &)
{
    constexpr uint32_t kCall = 0, kRpcVersion = 2;
    const Bytes payload = texts.fields().payload();
    const size_t begin = texts.fields().is_tcp() ? 4 : 0; // after the record's length
    if (payload.size() < begin + 24)
        return false;
    const Bytes call = payload.subspan(begin);
    return big_32(call, 4) == kCall && big_32(call, 8) == kRpcVersion &&
           big_32(call, 12) == option.program &&
           option.version.value_or(big_32(call, 16)) == big_32(call, 16) &&
           option.procedure.value_or(big_32(call, 20)) == big_32(call, 20);
}

bool apply(const FtpBounce &, PacketTexts &texts, State &state)
{
    const auto buffer = state.has_cursor ? texts.text(state.cursor_buffer) : std::nullopt;
    if (!buffer || state.cursor >= buffer->size())
        return false;
    const auto address = port_address(buffer->subspan(state.cursor));
    return address && *address != texts.fields().source_ip4();
}
} // namespace mapi::match::rule
