// SPDX-License-Identifier: MIT
// Rule packet: a payload -> a packet that carries it, and whether options match it.
#pragma once

#include <string>
#include <string_view>

#include "match/rule/evaluation.hpp"
#include "match/rule/parse/parse.hpp"
#include "unit/mapi-core/functions/frame_bytes.hpp"

namespace rule_test
{
using frame_bytes::Bytes;

inline Bytes ip4(uint8_t protocol, const Bytes &datagram)
{
    using namespace frame_bytes;
    return ethernet(0x0800, hex("45 10") + half(20 + datagram.size()) + hex("1234 4000 40") +
                                Bytes{protocol} + hex("0000 0a000001 0a000002") + datagram);
}

inline Bytes tcp(std::string_view payload)
{
    using namespace frame_bytes;
    return ip4(6, hex("1000 0050 00000007 00000009 50 12 0800 0000 0000") + text(payload));
}

inline Bytes udp(std::string_view payload)
{
    using namespace frame_bytes;
    return ip4(17, hex("1000 0035") + half(8 + payload.size()) + hex("0000") + text(payload));
}

inline Bytes icmp(uint8_t type, uint8_t code, std::string_view payload)
{
    using namespace frame_bytes;
    return ip4(1, Bytes{type, code} + hex("0000 0102 0304") + text(payload));
}

inline mapi::match::rule::Verdict verdict(std::string_view options, const Bytes &frame)
{
    const mapi_packet packet = {
        frame.data(), uint32_t(frame.size()), uint32_t(frame.size()), 1000000000, 1, 0, 0};
    mapi::match::rule::PacketTexts texts;
    texts.begin(packet);
    return mapi::match::rule::evaluate(mapi::match::rule::parse(options), texts);
}

inline bool matches(std::string_view options, const Bytes &frame)
{
    return verdict(options, frame) == mapi::match::rule::Verdict::kMatch;
}

inline bool matches(std::string_view options, std::string_view payload)
{
    return matches(options, tcp(payload));
}
} // namespace rule_test
