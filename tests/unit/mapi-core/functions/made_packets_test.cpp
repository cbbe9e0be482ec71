// SPDX-License-Identifier: MIT
#include "support/catch.hpp"

#include <cstring>

#include "functions/common/made_packets.hpp"

using mapi::functions::MadePackets;

TEST_CASE("made packets come in order, 64 at a time, with generated or original bytes",
          "[mapi-core][functions]")
{
    static const uint8_t kForeign[] = {9, 9, 9};
    const mapi_packet like = {kForeign, 3, 60, 1234, 1, 7, 0};
    MadePackets made;
    for (int round = 0; round < 2; ++round) {
        made.clear();
        for (uint32_t i = 0; i < 150; ++i) {
            if (i % 3 == 0)
                made.add(like);
            else
                memset(made.add(like, i, i + 100), int(i), i);
        }
        mapi_batch batch;
        uint32_t seen = 0;
        for (const uint32_t count : {64u, 64u, 22u}) {
            REQUIRE(made.next(&batch));
            REQUIRE(batch.count == count);
            CHECK(batch.link_type == 1);
            uint64_t wire_bytes = 0;
            for (uint32_t i = 0; i < count; ++i, ++seen) {
                const mapi_packet &packet = batch.packets[i];
                const bool is_foreign = seen % 3 == 0;
                wire_bytes += packet.wire_len;
                CHECK(packet.timestamp_ns == 1234);
                CHECK(packet.ifindex == 7);
                CHECK(packet.caplen == (is_foreign ? 3 : seen));
                CHECK(packet.wire_len == (is_foreign ? 60 : seen + 100));
                CHECK((packet.data == kForeign) == is_foreign);
                if (!is_foreign)
                    CHECK(packet.data[packet.caplen - 1] == uint8_t(seen));
            }
            CHECK(batch.wire_bytes == wire_bytes);
            CHECK(batch.all == (count == 64 ? ~0ull : (1ull << count) - 1));
        }
        CHECK_FALSE(made.next(&batch));
    }
}

TEST_CASE("a made packet may be shorter than requested", "[mapi-core][functions]")
{
    const mapi_packet like = {nullptr, 0, 0, 0, 1, 0, 0};
    MadePackets made;
    memset(made.add(like, 1000, 1000), 1, 1000);
    made.cut_last(10, 500);
    memset(made.add(like, 20, 20), 2, 20);
    mapi_batch batch;
    REQUIRE(made.next(&batch));
    REQUIRE(batch.count == 2);
    CHECK(batch.packets[0].caplen == 10);
    CHECK(batch.packets[0].wire_len == 500);
    CHECK(batch.packets[1].data == batch.packets[0].data + 10);
    CHECK(batch.packets[1].data[0] == 2);
}
