// SPDX-License-Identifier: MIT
// Ring: records are read in order or counted as dropped, whatever the reader does.
#include "support/catch.hpp"

#include <chrono>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include "engine/memory/ring_memory.hpp"
#include "ring/ring_reader.hpp"

using mapi::engine::HeapArena;
using mapi::engine::RingMemory;
using mapi::ring::Record;
using mapi::ring::RingReader;
using mapi::ring::RingWriter;

namespace
{
RingMemory make(uint64_t bytes, uint32_t flags = 0, uint32_t spare_bytes = 0)
{
    return RingMemory(std::make_shared<HeapArena>(), {flags, spare_bytes, bytes, 0, 0});
}

// Of 64 bytes each.
RingMemory make_for(uint32_t records)
{
    return RingMemory(std::make_shared<HeapArena>(), {0, 0, 0, records, 64});
}

uint32_t size_of(uint32_t number)
{
    return sizeof(number) + number % 301;
}

// A record whose bytes are all derived from its number.
bool push(RingWriter &writer, uint32_t number)
{
    auto *record = static_cast<uint8_t *>(writer.reserve(size_of(number)));
    if (record) {
        memset(record, int(number), size_of(number));
        memcpy(record, &number, sizeof(number));
    }
    writer.publish();
    return record != nullptr;
}

uint32_t number_of(const Record &record)
{
    uint32_t number = 0;
    REQUIRE(record.data != nullptr);
    memcpy(&number, record.data, sizeof(number));
    REQUIRE(record.bytes == size_of(number));
    for (uint32_t i = sizeof(number); i < record.bytes; ++i)
        REQUIRE(record.data[i] == uint8_t(number));
    return number;
}

bool always()
{
    return true;
}
} // namespace

TEST_CASE("records are read complete and in order, many times around the ring", "[mapi-core][ring]")
{
    RingMemory memory = make(4096);
    RingReader reader(memory.writer().pages());
    uint32_t in = 0, out = 0;
    while (out < 20000) {
        for (int i = 0; i < 2; ++i)
            REQUIRE(push(memory.writer(), in++));
        for (int i = 0; i < 2; ++i)
            REQUIRE(number_of(reader.next()) == out++);
        reader.release();
    }
    CHECK(reader.next().data == nullptr);
    CHECK(memory.writer().dropped() == 0);
}

TEST_CASE("a full ring drops the newest records and counts them", "[mapi-core][ring]")
{
    RingMemory memory = make(1024);
    for (uint32_t i = 300; i < 320; ++i)
        push(memory.writer(), i);
    RingReader reader(memory.writer().pages());
    uint32_t out = 0;
    while (reader.next().data)
        ++out;
    CHECK(out > 0);
    CHECK(out + memory.writer().dropped() == 20);
    reader.release();
    CHECK(push(memory.writer(), 5));
    CHECK(number_of(reader.next()) == 5);
}

TEST_CASE("records that were lent are not overwritten before they are returned",
          "[mapi-core][ring]")
{
    RingMemory memory = make(1024);
    push(memory.writer(), 7);
    RingReader reader(memory.writer().pages());
    const Record lent = reader.next();
    while (push(memory.writer(), 8)) {
    }
    CHECK(number_of(lent) == 7);
}

TEST_CASE("a writer that waits loses nothing", "[mapi-core][ring]")
{
    RingMemory memory = make(2048, MAPI_RING_WRITER_WAITS);
    std::thread writer([&] {
        for (uint32_t i = 0; i < 100000; ++i)
            push(memory.writer(), i);
        memory.writer().end();
    });
    RingReader reader(memory.writer().pages());
    uint32_t out = 0;
    while (reader.wait(-1, always)) {
        for (Record record = reader.next(); record.data; record = reader.next())
            REQUIRE(number_of(record) == out++);
        reader.release();
    }
    writer.join();
    CHECK(out == 100000);
    CHECK(reader.is_over());
    CHECK(memory.writer().dropped() == 0);
}

TEST_CASE("cancelling wakes both sides", "[mapi-core][ring]")
{
    RingMemory full = make(1024, MAPI_RING_WRITER_WAITS), empty = make(1024);
    std::thread writer([&] {
        for (uint32_t i = 0; i < 100; ++i)
            push(full.writer(), 300);
    });
    bool has_record = true;
    std::thread waiting([&] { has_record = RingReader(empty.writer().pages()).wait(-1, always); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    full.writer().cancel();
    empty.writer().cancel();
    writer.join();
    waiting.join();
    CHECK(!has_record);
}

TEST_CASE("a record that can never fit is dropped, not waited for", "[mapi-core][ring]")
{
    RingMemory memory = make(1024, MAPI_RING_WRITER_WAITS);
    CHECK(memory.writer().reserve(600) == nullptr);
    CHECK(memory.writer().dropped() == 1);
}

TEST_CASE("reserved space is there for the last records, however full the ring is",
          "[mapi-core][ring]")
{
    RingMemory memory = make(1024, 0, 128);
    while (push(memory.writer(), 4)) {
    }
    CHECK(memory.writer().reserve_last(8) != nullptr);
    CHECK(memory.writer().reserve_last(8) != nullptr);
    memory.writer().end();
    RingReader reader(memory.writer().pages());
    Record last = reader.next();
    for (Record next = last; next.data; next = reader.next())
        last = next;
    CHECK(last.bytes == 8);
}

TEST_CASE("a reader that claims a wrong position loses its own records and nothing else",
          "[mapi-core][ring]")
{
    RingMemory memory = make(1024);
    for (const uint64_t lie : {~uint64_t(0), uint64_t(1) << 40, uint64_t(8), uint64_t(12345)}) {
        memory.writer().pages().reader->tail.store(lie);
        memory.writer().pages().reader->wants.store(~0u);
        const uint64_t before = memory.writer().dropped();
        int written = 0;
        for (uint32_t i = 0; i < 100; ++i)
            written += push(memory.writer(), i);
        CHECK(written + int(memory.writer().dropped() - before) == 100);
    }
}

TEST_CASE("a poll descriptor becomes readable with the next record after it was requested",
          "[mapi-core][ring]")
{
    RingMemory memory = make(1024);
    RingReader reader(memory.writer().pages());
    pollfd event = {memory.writer().poll_descriptor(), POLLIN, 0};
    REQUIRE(event.fd >= 0);
    char reported[16];
    CHECK(read(event.fd, reported, sizeof(reported)) == 1); // readable at first
    push(memory.writer(), 1);
    CHECK(poll(&event, 1, 0) == 0);
    CHECK(reader.ask_for_poll());
    CHECK(number_of(reader.next()) == 1);
    reader.release();
    CHECK_FALSE(reader.ask_for_poll());
    push(memory.writer(), 2);
    CHECK(poll(&event, 1, 0) == 1);
    CHECK(read(event.fd, reported, sizeof(reported)) == 1);
    memory.writer().end();
    CHECK(poll(&event, 1, 0) == 1);
}

TEST_CASE("a reader that makes its descriptor blocking, and never reads, does not block the writer",
          "[mapi-core][ring]")
{
    RingMemory memory = make(1024);
    const int event = memory.writer().poll_descriptor();
    fcntl(event, F_SETFL, 0);
    for (uint32_t i = 0; i < 200000; ++i) {
        memory.writer().pages().reader->wants.store(~0u);
        memory.writer().pages().reader->tail.store(memory.writer().pages().writer->head.load());
        push(memory.writer(), 4);
    }
    CHECK(memory.writer().dropped() == 0);
}

TEST_CASE("a ring of n records has room for exactly n, wherever they are in its memory",
          "[mapi-core][ring]")
{
    for (const uint32_t most : {1u, 13u, 50u, 227u}) {
        RingMemory ring = make_for(most);
        RingReader reader(ring.writer().pages());
        for (uint32_t round = 0; round < 300; ++round) {
            uint32_t placed = 0, taken = 0;
            while (ring.writer().reserve(64))
                ++placed;
            ring.writer().publish();
            CHECK(placed == (round == 0 ? most : std::min(most, 7u)));
            while (taken < std::min(most, 7u) && reader.next().data)
                ++taken;
            reader.give_back();
        }
    }
}

TEST_CASE("a ring of n records has its reserved space in addition, and no room for a longer record",
          "[mapi-core][ring]")
{
    RingMemory ring(std::make_shared<HeapArena>(), {MAPI_RING_WRITER_WAITS, 288, 0, 3, 64});
    RingReader reader(ring.writer().pages());
    for (int round = 0; round < 100; ++round) {
        for (int i = 0; i < 3; ++i)
            REQUIRE(ring.writer().reserve(64) != nullptr); // a fourth would wait for the reader
        for (int i = 0; i < 4; ++i)                        // 72 bytes each with header
            REQUIRE(ring.writer().reserve_last(64) != nullptr);
        CHECK(ring.writer().reserve_last(80) == nullptr);
        CHECK(ring.writer().reserve(80) == nullptr);
        ring.writer().publish();
        for (int i = 0; i < 7; ++i)
            REQUIRE(reader.next().data != nullptr);
        reader.give_back();
    }
    CHECK(ring.writer().dropped() == 200);
}

TEST_CASE("a ring for more or longer records than memory allows has as many as a gibibyte holds",
          "[mapi-core][ring]")
{
    for (const auto &[records, bytes] :
         {std::pair{~0u, ~0u}, std::pair{~0u, 64u}, std::pair{1u, ~0u}}) {
        RingMemory ring(std::make_shared<HeapArena>(),
                        {MAPI_RING_WRITER_WAITS, 0, 0, records, bytes});
        CHECK(ring.writer().pages().bytes == uint64_t(1) << 30);
        CHECK((ring.writer().reserve(bytes) != nullptr) == (bytes == 64));
    }
}

TEST_CASE("a reader that claims to have read more gets no more records than there is room for",
          "[mapi-core][ring]")
{
    RingMemory ring = make_for(10);
    for (const uint64_t tail : {uint64_t(1) << 40, ~uint64_t(0), uint64_t(100000)}) {
        ring.writer().pages().reader->tail = tail;
        uint32_t placed = 0;
        while (placed <= 10 && ring.writer().reserve(64))
            ++placed;
        ring.writer().publish();
        CHECK(placed <= 10);
    }
}
