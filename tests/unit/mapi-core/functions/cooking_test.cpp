// SPDX-License-Identifier: MIT
// The parts of COOKING: segments in any order, limits, sides.
#include "support/catch.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <string>

#include "functions/cooking/streams.hpp"
#include "mapi-core/functions/cooking_frame.hpp"

using namespace mapi::cooking;
using mapi::functions::MadePackets;

namespace
{
Head make_head()
{
    const auto bytes = frame();
    const mapi_packet packet = {
        bytes.data(), uint32_t(bytes.size()), uint32_t(bytes.size()), 0, 1, 0, 0};
    Head head;
    begin_head(head, packet, mapi::headers::parse(packet));
    end_head(head, bytes.data() + 34);
    return head;
}

struct Cooked {
    uint32_t sequence;
    std::string payload;
    uint64_t time;
    uint8_t flags;
};

struct Kitchen {
    mapi_cooking_t counts{};
    MadePackets made;
    Streams streams;
    Head head = make_head();

    explicit Kitchen(const Order &order) : streams(order, counts, made) {}

    void take(uint32_t sequence, const std::string &payload, uint8_t flags = kAck,
              unsigned from = 0, uint64_t time = 0, uint8_t port = 1, uint32_t cut = 0)
    {
        Segment segment;
        segment.ends.end[1].port[0] = port;
        segment.from = from;
        segment.sequence = sequence;
        segment.flags = flags;
        segment.payload = {reinterpret_cast<const uint8_t *>(payload.data()), payload.size()};
        segment.cut_bytes = cut;
        segment.timestamp_ns = time;
        streams.take(segment, head);
    }

    std::vector<Cooked> given()
    {
        std::vector<Cooked> packets;
        for (mapi_batch batch; made.next(&batch);) {
            for (uint32_t i = 0; i < batch.count; ++i) {
                const uint8_t *at = batch.packets[i].data;
                packets.push_back({uint32_t(at[38]) << 24 | uint32_t(at[39]) << 16 |
                                       uint32_t(at[40]) << 8 | at[41],
                                   {at + kHeadBytes, at + batch.packets[i].caplen},
                                   batch.packets[i].timestamp_ns,
                                   at[47]});
            }
        }
        made.clear();
        return packets;
    }

    std::string text()
    {
        std::string all;
        for (const Cooked &packet : given())
            all += (all.empty() ? "" : "|") + packet.payload;
        return all;
    }
};
} // namespace

TEST_CASE("segments in any order, repeated and overlapping, become one packet at the stream's end",
          "[mapi-core][functions]")
{
    const std::string all = "abcdefghijkl";
    std::vector<std::pair<uint32_t, uint32_t>> parts = {
        {0, 3}, {2, 3}, {5, 1}, {6, 6}, {1, 2}};         // first byte, bytes
    const uint32_t first = GENERATE(1000u, 0xfffffffau); // the numbers wrap
    do {
        Kitchen kitchen{Order{}};
        kitchen.take(first - 1, "", kSyn);
        for (const auto &[at, bytes] : parts)
            kitchen.take(first + at, all.substr(at, bytes));
        CHECK(kitchen.text() == "");
        kitchen.take(first + uint32_t(all.size()), "", kFin | kAck, 0, 77);
        const auto given = kitchen.given();
        REQUIRE(given.size() == 1);
        CHECK(given[0].payload == all);
        CHECK(given[0].sequence == first);
        CHECK(given[0].time == 77);
        CHECK(given[0].flags == (kAck | kPsh | kFin));
        CHECK(kitchen.counts.cooked_bytes == all.size());
        CHECK(kitchen.counts.bytes == 15);
        CHECK(kitchen.counts.repeated_bytes == 3);
    } while (std::next_permutation(parts.begin(), parts.end()));
}

TEST_CASE("a packet is returned at each threshold, the rest at the end", "[mapi-core][functions]")
{
    Order order;
    order.threshold = 4;
    Kitchen kitchen{order};
    kitchen.take(1, "abc");
    CHECK(kitchen.text() == "");
    kitchen.take(4, "defghi");
    CHECK(kitchen.text() == "abcd|efgh");
    kitchen.take(10, "", kRst);
    CHECK(kitchen.text() == "i");
    kitchen.take(1, "abc"); // retransmitted after the end
    kitchen.streams.end_all();
    CHECK(kitchen.text() == "");
    CHECK(kitchen.counts.repeated_bytes == 3);
    CHECK(kitchen.counts.streams == 1);
}

TEST_CASE("a payload larger than an IP packet is split again", "[mapi-core][functions]")
{
    Order order;
    order.threshold = 200000;
    Kitchen kitchen{order};
    for (uint32_t i = 0; i < 200; ++i)
        kitchen.take(i * 1000, std::string(1000, char('a' + i % 26)));
    std::vector<size_t> sizes;
    for (const Cooked &packet : kitchen.given())
        sizes.push_back(packet.payload.size());
    CHECK(sizes == std::vector<size_t>{65495, 65495, 65495, 3515});
}

TEST_CASE("each requested side gives all packets, or only its first", "[mapi-core][functions]")
{
    Order order;
    order.threshold = 4;
    order.is_once = GENERATE(false, true);
    order.side = GENERATE(int(CLIENT_SIDE), int(SERVER_SIDE), int(BOTH_SIDE));
    Kitchen kitchen{order};
    kitchen.take(0, "", kSyn | kAck, 0); // end 1 is the client
    kitchen.take(1, "from-server", kAck, 0);
    kitchen.take(1, "from-client", kAck, 1);
    kitchen.streams.end_all();
    // full packets are returned immediately, the rest at the end; CLIENT_SIDE is what the client
    // receives
    std::string wanted;
    if (order.is_once)
        wanted = order.side == BOTH_SIDE ? "from|from" : "from";
    else if (order.side == BOTH_SIDE)
        wanted = "from|-ser|from|-cli|ver|ent";
    else
        wanted = order.side == CLIENT_SIDE ? "from|-ser|ver" : "from|-cli|ent";
    CHECK(kitchen.text() == wanted);
    CHECK(kitchen.counts.bytes == kitchen.counts.cooked_bytes + kitchen.counts.other_bytes);
}

TEST_CASE("a stream that is silent too long ends, and data after a hole is a separate packet",
          "[mapi-core][functions]")
{
    Order order;
    order.timeout_ns = 1000;
    Kitchen kitchen{order};
    kitchen.take(1, "ab", kAck, 0, 5000);
    kitchen.take(10, "yz", kAck, 0, 6000);
    kitchen.streams.expire(7000);
    CHECK(kitchen.text() == "");
    kitchen.streams.expire(7001);
    const auto given = kitchen.given();
    REQUIRE(given.size() == 2);
    CHECK(given[0].payload == "ab");
    CHECK(given[1].payload == "yz");
    CHECK(given[1].sequence == 10);
    CHECK(given[1].time == 6000);
    CHECK(kitchen.counts.holes == 1);
    CHECK(kitchen.counts.missing_bytes == 7);
}

TEST_CASE("a truncated packet ends a cooked packet, and the stream continues after it",
          "[mapi-core][functions]")
{
    Kitchen kitchen{Order{}};
    kitchen.take(1, "ab", kAck, 0, 0, 1, 100);
    CHECK(kitchen.text() == "ab");
    kitchen.take(103, "cd", kFin);
    CHECK(kitchen.text() == "cd");
    CHECK(kitchen.counts.cut_bytes == 100);
    CHECK(kitchen.counts.missing_bytes == 0);
}

TEST_CASE("a SYN with another number starts a new stream once data follows, the same one does not",
          "[mapi-core][functions]")
{
    Kitchen kitchen{Order{}};
    kitchen.take(0, "", kSyn);
    kitchen.take(1, "ab");
    kitchen.take(0, "", kSyn);
    kitchen.take(500, "", kSyn);
    CHECK(kitchen.text() == "");
    CHECK(kitchen.counts.streams == 1);
    SECTION("the sender continues there")
    {
        kitchen.take(501, "cd");
        CHECK(kitchen.text() == "ab");
        CHECK(kitchen.counts.streams == 2);
        kitchen.streams.end_all();
        CHECK(kitchen.text() == "cd");
    }
    SECTION("the sender continues where it was")
    {
        kitchen.take(3, "cd");
        kitchen.streams.end_all();
        CHECK(kitchen.text() == "abcd");
        CHECK(kitchen.counts.ignored_packets == 1);
    }
}

TEST_CASE("a stream that ended is replaced by a new one at its SYN", "[mapi-core][functions]")
{
    Kitchen kitchen{Order{}};
    kitchen.take(0, "", kSyn);
    kitchen.take(1, "ab");
    SECTION("both sides closed it")
    {
        kitchen.take(3, "", kFin);
        kitchen.take(7, "", kFin, 1);
    }
    SECTION("it was reset")
    {
        kitchen.take(3, "", kRst);
    }
    CHECK(kitchen.text() == "ab");
    kitchen.take(500, "", kSyn);
    kitchen.take(501, "cd");
    CHECK(kitchen.counts.streams == 2);
    kitchen.streams.end_all();
    CHECK(kitchen.text() == "cd");
}

TEST_CASE("segments before the first one seen precede it once they reach it",
          "[mapi-core][functions]")
{
    const std::string all = "abcdefghijkl";
    const uint32_t first = GENERATE(1000u, 0xfffffffau, 0xfffffff4u);
    std::vector<uint32_t> parts = {0, 3, 6, 9};
    do {
        Kitchen kitchen{Order{}};
        for (const uint32_t at : parts)
            kitchen.take(first + at, all.substr(at, 3));
        kitchen.take(first + 3, "def"); // again
        kitchen.streams.end_all();
        CHECK(kitchen.text() == all);
        CHECK(kitchen.counts.repeated_bytes == 3);
        CHECK(kitchen.counts.early_bytes == 0);
    } while (std::next_permutation(parts.begin(), parts.end()));
}

TEST_CASE("early segments that arrive after later ones were returned are separate packets",
          "[mapi-core][functions]")
{
    Order order;
    order.threshold = 3;
    Kitchen kitchen{order};
    kitchen.take(107, "ghi");
    CHECK(kitchen.text() == "ghi");
    kitchen.take(101, "abc");
    CHECK(kitchen.text() == "");
    kitchen.take(104, "def");
    CHECK(kitchen.text() == "abc|def");
    kitchen.take(110, "jkl");
    CHECK(kitchen.text() == "jkl");
    CHECK(kitchen.counts.repeated_bytes == 0);
}

TEST_CASE("early segments that never reach the first one are counted as early",
          "[mapi-core][functions]")
{
    Kitchen kitchen{Order{}};
    kitchen.take(1000, "gh");
    kitchen.take(900, "ab");
    kitchen.take(900, "abc"); // partly repeated
    kitchen.streams.end_all();
    CHECK(kitchen.text() == "gh");
    CHECK(kitchen.counts.early_bytes == 3);
    CHECK(kitchen.counts.repeated_bytes == 5);
}

TEST_CASE("a keep-alive before the first data causes no hole", "[mapi-core][functions]")
{
    Kitchen kitchen{Order{}};
    kitchen.take(999, "");
    kitchen.take(1000, "ab");
    kitchen.take(1001, "x"); // a keep-alive with one byte
    kitchen.streams.end_all();
    CHECK(kitchen.text() == "ab");
    CHECK(kitchen.counts.holes == 0);
    CHECK(kitchen.counts.repeated_bytes == 1);
}

TEST_CASE("a number far away is another place in the stream; no later data is lost",
          "[mapi-core][functions]")
{
    Kitchen kitchen{Order{}};
    kitchen.take(1, "ab");
    kitchen.take(0x40000000, "far");
    kitchen.take(3, "cd");
    kitchen.streams.end_all();
    CHECK(kitchen.text() == "ab|far|cd");
    CHECK(kitchen.counts.holes == 2);
}

TEST_CASE("waiting data is limited: per hole, by bytes of all streams, by number of streams",
          "[mapi-core][functions]")
{
    Order order;
    order.limits = {3, 4000, 1000, 5};
    Kitchen kitchen{order};
    SECTION("segments after a hole")
    {
        kitchen.take(1, "a");
        for (uint32_t i = 0; i < 6; ++i)
            kitchen.take(10 + 2 * i, "b");
        CHECK(kitchen.text() == "a");
        kitchen.streams.end_all();
        CHECK(kitchen.text() == "b|b|b|b|b|b");
        CHECK(kitchen.counts.holes == 6);
    }
    SECTION("bytes after a hole")
    {
        kitchen.take(1, "a");
        kitchen.take(10, std::string(1001, 'b'));
        kitchen.take(2000, "c");
        CHECK(kitchen.text() == "a");
        CHECK(kitchen.counts.holes == 1);
        CHECK(kitchen.counts.missing_bytes == 8);
    }
    SECTION("bytes of all: the oldest stream ends")
    {
        for (uint8_t port = 1; port <= 2; ++port)
            kitchen.take(1, std::string(2000, char('a' + port)), kAck, 0, port, port);
        CHECK(kitchen.counts.early_ends == 0);
        kitchen.take(2001, "c", kAck, 0, 3, 2);
        CHECK(kitchen.text() == std::string(2000, 'b'));
        CHECK(kitchen.counts.early_ends == 1);
    }
    SECTION("streams: those without payload end first")
    {
        kitchen.take(1, "old", kAck, 0, 1, 1);
        for (uint8_t port = 2; port < 40; ++port)
            kitchen.take(1, "", kSyn, 0, port, port);
        CHECK(kitchen.text() == "");
        CHECK(kitchen.counts.early_ends == 36);
        for (uint8_t port = 50; port < 53; ++port)
            kitchen.take(1, "new", kAck, 0, port, port);
        CHECK(kitchen.text() == "old");
    }
}

TEST_CASE("every byte of any segments is counted exactly once", "[mapi-core][functions]")
{
    std::mt19937 random(GENERATE(1, 2, 3, 4));
    Order order;
    order.threshold = 50;
    order.timeout_ns = 1000;
    order.is_once = random() % 2;
    order.side = 1 + int(random() % 3);
    order.limits = {6, 3000, 400, 8};
    Kitchen kitchen{order};
    uint64_t given = 0;
    for (uint64_t time = 0; time < 20000; ++time) {
        const uint32_t sequence = random() % 50 == 0 ? random() : 0xffffff00u + random() % 2000;
        const uint8_t flags = random() % 30 == 0 ? uint8_t(random()) : uint8_t(kAck);
        kitchen.take(sequence, std::string(random() % 40, 'x'), flags, random() % 2, time * 7,
                     uint8_t(random() % 8), random() % 20 ? 0 : random() % 30);
        kitchen.streams.expire(time * 7);
        for (const Cooked &packet : kitchen.given())
            given += packet.payload.size();
    }
    kitchen.streams.end_all();
    for (const Cooked &packet : kitchen.given())
        given += packet.payload.size();
    const mapi_cooking_t &counts = kitchen.counts;
    CHECK(counts.cooked_bytes == given);
    CHECK(counts.bytes == counts.cooked_bytes + counts.other_bytes + counts.repeated_bytes);
    CHECK(counts.early_ends > 0);
    CHECK(counts.holes > 0);
}
