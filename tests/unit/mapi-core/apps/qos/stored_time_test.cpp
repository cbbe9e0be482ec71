// SPDX-License-Identifier: MIT
#include "qos/collect/stored_time.hpp"

#include "support/catch.hpp"

namespace
{
std::vector<qos::SelectedPacket> packets_at(std::initializer_list<int64_t> times)
{
    std::vector<qos::SelectedPacket> packets;
    for (const int64_t time_ns : times) {
        packets.emplace_back();
        packets.back().time_ns = time_ns;
    }
    return packets;
}
} // namespace

TEST_CASE("everything is stored up to the last packet while others wait", "[mapi-core][qos]")
{
    qos::StoredTime stored;
    stored.take(packets_at({10, 20}), false, 100);
    CHECK(stored.last_ns() == 20);
    stored.take(packets_at({30}), true, 100);
    CHECK(stored.last_ns() == 100);
}

TEST_CASE("a point that sees nothing covers the time, too", "[mapi-core][qos]")
{
    qos::StoredTime stored;
    stored.take({}, true, 100);
    CHECK(stored.last_ns() == 100);
    stored.take({}, true, 0);
    CHECK(stored.last_ns() == 100);
    stored.take(packets_at({90}), false, 200);
    CHECK(stored.last_ns() == 100);
}
