// SPDX-License-Identifier: MIT
// The log of announcements: order, a full log, and writers that died halfway.
#include "ring_fixture.hpp"

#include <nsprobe/file.h>

#include <string>
#include <thread>
#include <vector>

extern "C" {
#include "session/announce.h"
}

namespace
{
std::vector<std::string> read_all(const nsp_shm_map &map, uint64_t &cursor)
{
    std::vector<std::string> texts;
    const void *payload;
    uint32_t bytes;
    uint16_t kind;
    while (nsp_announce_next(&map, &cursor, &kind, &payload, &bytes))
        texts.emplace_back(static_cast<const char *>(payload), bytes);
    return texts;
}

void announce(const nsp_shm_map &map, const std::string &text, int expected = 0)
{
    REQUIRE(nsp_announce(&map, NSLICE_CHUNK_INFO, text.data(), uint32_t(text.size())) == expected);
}
} // namespace

TEST_CASE("announcements of any length are read once each, in order", "[libnsprobe][announce]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    uint64_t cursor = 0;
    CHECK(read_all(rings.map, cursor).empty());
    announce(rings.map, "");
    announce(rings.map, "a");
    announce(rings.map, std::string(1000, 'b'));
    CHECK(read_all(rings.map, cursor) == std::vector<std::string>{"", "a", std::string(1000, 'b')});
    CHECK(read_all(rings.map, cursor).empty());
    announce(rings.map, "c");
    CHECK(read_all(rings.map, cursor) == std::vector<std::string>{"c"});
}

TEST_CASE("announcements of several threads all arrive complete", "[libnsprobe][announce]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    std::vector<std::thread> threads;
    for (char c = 'a'; c < 'e'; ++c)
        threads.emplace_back([&, c] {
            for (unsigned i = 0; i < 2000; ++i) {
                const std::string text(1 + i % 50, c);
                nsp_announce(&rings.map, NSLICE_CHUNK_INFO, text.data(), uint32_t(text.size()));
            }
        });
    uint64_t cursor = 0;
    std::vector<std::string> texts;
    while (texts.size() < 8000)
        for (auto &text : read_all(rings.map, cursor))
            texts.push_back(std::move(text));
    for (auto &thread : threads)
        thread.join();
    for (const auto &text : texts)
        REQUIRE(text == std::string(text.size(), text[0]));
    CHECK(read_all(rings.map, cursor).empty());
}

TEST_CASE("an announcement that does not fit is refused and counted", "[libnsprobe][announce]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    announce(rings.map, std::string(NSLICE_MAX_PAYLOAD_BYTES + 1, 'x'), -ENOSPC);
    CHECK(rings.map.shm->dropped_announcements == 1);
    rings.map.shm->announce_tail = NSLICE_SESSION_ANNOUNCE_BYTES - 16;
    announce(rings.map, "123456789", -ENOSPC);
    CHECK(rings.map.shm->dropped_announcements == 2);
    announce(rings.map, "12345678");
    CHECK(rings.map.shm->announce_tail == NSLICE_SESSION_ANNOUNCE_BYTES);
}

TEST_CASE("an announcement whose writer died hides no earlier ones, and later ones only briefly",
          "[libnsprobe][announce]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    uint64_t cursor = 0;
    announce(rings.map, "before");
    // The dead writer: reserved its place and stored the length, but never set `ready`.
    const uint64_t at = rings.map.shm->announce_tail;
    const uint32_t bytes = 24;
    std::memcpy(rings.map.announcements + at, &bytes, sizeof bytes);
    rings.map.shm->announce_tail = at + 8 + bytes;
    announce(rings.map, "behind");
    CHECK(read_all(rings.map, cursor) == std::vector<std::string>{"before"});
    const uint64_t stuck = cursor;
    CHECK(stuck == at);
    CHECK(nsp_announce_skip(&rings.map, &cursor) == 1);
    CHECK(read_all(rings.map, cursor) == std::vector<std::string>{"behind"});
    CHECK(nsp_announce_skip(&rings.map, &cursor) == 0);
}

TEST_CASE("a writer that died before it stored the length ends the log, and that is reported",
          "[libnsprobe][announce]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    uint64_t cursor = 0;
    rings.map.shm->announce_tail = 32; // reserved, nothing stored
    CHECK(read_all(rings.map, cursor).empty());
    CHECK(nsp_announce_skip(&rings.map, &cursor) == 1);
    CHECK(read_all(rings.map, cursor).empty());
}

TEST_CASE("a corrupted log is not read past its end", "[libnsprobe][announce]")
{
    Rings rings(NSLICE_RING_ATOMIC);
    uint64_t cursor = 0;
    announce(rings.map, "1234567");
    const uint32_t huge = 0xfffffff0;
    std::memcpy(rings.map.announcements, &huge, sizeof huge);
    CHECK(read_all(rings.map, cursor).empty());
    rings.map.shm->announce_tail = ~0ull;
    CHECK(read_all(rings.map, cursor).empty());
}
