// SPDX-License-Identifier: MIT
// Packet ring: what goes in comes out in order, or is counted as dropped.
#include "support/catch.hpp"

#include <cstring>
#include <thread>
#include <vector>

#include "functions/packet_ring.hpp"

using mapi::functions::PacketRing;
using mapi::functions::PacketRingOptions;

namespace
{
// One packet whose bytes all follow from its number.
struct Source {
    std::vector<uint8_t> data = std::vector<uint8_t>(2000);
    mapi_packet packet = {};
    mapi_batch batch = {};

    void push(PacketRing &ring, uint32_t number)
    {
        packet.caplen = number % 1501;
        memset(data.data(), int(number), packet.caplen);
        packet.data = data.data();
        packet.wire_len = number;
        packet.ifindex = uint16_t(number);
        packet.timestamp_ns = number * 1000000000ull + 500000000;
        batch.packets = &packet;
        batch.count = 1;
        batch.all = 1;
        ring.push(batch, 1);
    }
};

void check(const mapipkt *packet, uint32_t number)
{
    REQUIRE(packet != nullptr);
    REQUIRE(packet->wlen == number);
    REQUIRE(packet->caplen == number % 1501);
    REQUIRE(packet->ts == ((number + 2208988800ull) << 32 | 0x80000000u));
    for (uint32_t i = 0; i < packet->caplen; ++i)
        REQUIRE((&packet->pkt)[i] == uint8_t(number));
}
} // namespace

TEST_CASE("packets come out whole and in order, many times round the ring", "[mapi-core][functions]")
{
    PacketRing ring({.bytes = 8192, .writer_waits = false, .reader_waits = false});
    Source source;
    uint32_t in = 0, out = 0;
    while (out < 5000) {
        for (int i = 0; i < 2; ++i)
            source.push(ring, in++);
        for (int i = 0; i < 2; ++i)
            check(ring.next(), out++);
    }
    CHECK(ring.next() == nullptr);
    CHECK(ring.dropped() == 0);
}

TEST_CASE("a full ring drops the newest packets and counts them", "[mapi-core][functions]")
{
    PacketRing ring({.bytes = 8192, .writer_waits = false, .reader_waits = false});
    Source source;
    for (uint32_t i = 1000; i < 1020; ++i)
        source.push(ring, i);
    uint32_t out = 0;
    while (ring.next())
        ++out;
    CHECK(out > 0);
    CHECK(out + ring.dropped() == 20);
    source.push(ring, 5);
    check(ring.next(), 5);
}

TEST_CASE("a writer that waits loses nothing", "[mapi-core][functions]")
{
    PacketRing ring({.bytes = 8192, .writer_waits = true, .reader_waits = true});
    std::thread writer([&] {
        Source source;
        for (uint32_t i = 0; i < 100000; ++i)
            source.push(ring, i);
        ring.end();
    });
    uint32_t out = 0;
    while (const mapipkt *packet = ring.next()) {
        REQUIRE(packet->wlen == out);
        ++out;
    }
    writer.join();
    CHECK(out == 100000);
    CHECK(ring.dropped() == 0);
}

TEST_CASE("cancelling wakes both sides", "[mapi-core][functions]")
{
    PacketRing full({.bytes = 8192, .writer_waits = true, .reader_waits = true});
    std::thread writer([&] {
        Source source;
        for (uint32_t i = 1000; i < 1100; ++i)
            source.push(full, i);
    });
    PacketRing empty({.bytes = 8192, .writer_waits = true, .reader_waits = true});
    const mapipkt *got = reinterpret_cast<const mapipkt *>(&empty);
    std::thread reader([&] { got = empty.next(); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    full.cancel();
    empty.cancel();
    writer.join();
    reader.join();
    CHECK(got == nullptr);
}

TEST_CASE("a packet that can never fit is dropped, not waited for", "[mapi-core][functions]")
{
    PacketRing ring({.bytes = 1024, .writer_waits = true, .reader_waits = false});
    Source source;
    source.push(ring, 1400);
    CHECK(ring.dropped() == 1);
}
