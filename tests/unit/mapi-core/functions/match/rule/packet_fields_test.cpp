// SPDX-License-Identifier: MIT
// Packet fields: what is read of plain TCP directly is what the walk of headers reads, to which a
// VLAN tag leads.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <random>
#include <vector>

#include "match/rule/packet_fields.hpp"
#include "support/catch.hpp"
#include "support/requires.hpp"
#include "unit/mapi-core/functions/match/captures.hpp"

#include "rule_packet.hpp"

namespace
{
using mapi::match::rule::Field;
using mapi::match::rule::PacketFields;
using rule_test::Bytes;

constexpr size_t kAddressBytes = 12; // of Ethernet, in front of the type

mapi_packet view_of(const Bytes &frame)
{
    return {frame.data(), uint32_t(frame.size()), uint32_t(frame.size()), 0, 1, 0, 0};
}

Bytes tagged(const Bytes &frame)
{
    Bytes with = frame;
    const uint8_t tag[] = {0x81, 0x00, 0x00, 0x07};
    if (with.size() >= kAddressBytes)
        with.insert(with.begin() + kAddressBytes, std::begin(tag), std::end(tag));
    return with;
}

void check_same(const Bytes &frame)
{
    const Bytes with_tag = tagged(frame);
    const PacketFields plain(view_of(frame)), other(view_of(with_tag));
    CHECK(std::ranges::equal(plain.payload(), other.payload()));
    CHECK(plain.is_tcp() == other.is_tcp());
    CHECK(plain.unread() == other.unread());
    CHECK(plain.source_ip4() == other.source_ip4());
    for (int field = int(Field::kPayloadBytes); field <= int(Field::kIcmpSequence); ++field)
        CHECK(plain.value(Field(field)) == other.value(Field(field)));
}
} // namespace

TEST_CASE("a VLAN tag changes no field of a real packet", "[match][rule]")
{
    const std::filesystem::path file =
        test_support::shared_data() / "rule-packets" / "rp_snort220.pcap";
    const match_test::Capture capture = match_test::Capture::read(file);
    if (capture.packets.empty())
        return test_support::skip("no rule-packets in shared data");
    for (const mapi_packet &packet : capture.packets)
        check_same(Bytes(packet.data, packet.data + packet.caplen));
}

TEST_CASE("a VLAN tag changes no field of a truncated or damaged packet", "[match][rule]")
{
    const Bytes whole = rule_test::tcp("GET / HTTP/1.0");
    for (size_t bytes = kAddressBytes + 2; bytes <= whole.size(); ++bytes)
        check_same(Bytes(whole.begin(), whole.begin() + ptrdiff_t(bytes)));
    std::mt19937 random(5);
    for (int round = 0; round < 20000; ++round) {
        Bytes frame = whole;
        for (uint32_t i = 1 + random() % 3; i > 0; --i)
            frame[14 + random() % 40] = uint8_t(random() % 3 ? random() : random() % 64);
        check_same(frame);
    }
}
