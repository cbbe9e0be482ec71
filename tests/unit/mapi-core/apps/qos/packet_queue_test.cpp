// SPDX-License-Identifier: MIT
#include "qos/collect/packet_queue.hpp"

#include <thread>

#include "support/catch.hpp"

namespace
{
using qos::PacketQueue;
using qos::SelectedPacket;
constexpr std::chrono::milliseconds kNow(0), kLong(10000);

SelectedPacket packet(int64_t number)
{
    SelectedPacket packet;
    packet.time_ns = number;
    return packet;
}
} // namespace

TEST_CASE("packets of a device that find no room are counted", "[mapi-core][qos]")
{
    PacketQueue queue(2, false);
    for (int i = 0; i < 5; ++i)
        queue.push(packet(i));
    CHECK(queue.no_room() == 3);
    const auto taken = queue.take(1, 10, kNow);
    REQUIRE(taken.size() == 2);
    CHECK(taken[1].time_ns == 1);
}

TEST_CASE("a capture waits for room and loses nothing", "[mapi-core][qos]")
{
    constexpr int kPackets = 1000;
    PacketQueue queue(3, true);
    std::thread writer([&] {
        for (int i = 0; i < kPackets; ++i)
            queue.push(packet(i));
        queue.end();
    });
    int64_t next = 0;
    while (!queue.has_ended())
        for (const SelectedPacket &taken : queue.take(2, 2, kLong))
            CHECK(taken.time_ns == next++);
    writer.join();
    CHECK(next == kPackets);
    CHECK(queue.no_room() == 0);
}

TEST_CASE("a closed queue does not hold its writer", "[mapi-core][qos]")
{
    PacketQueue queue(1, true);
    queue.push(packet(0));
    std::thread writer([&] { queue.push(packet(1)); });
    queue.close();
    writer.join();
    CHECK(queue.no_room() == 1);
    CHECK(queue.take(1, 10, kNow).size() == 1);
}
