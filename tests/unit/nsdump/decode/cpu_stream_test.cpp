// SPDX-License-Identifier: MIT
#include "decode/cpu_stream.hpp"

#include "nsdump_support.hpp"
#include "source/look_ahead_support.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using test_support::source_of;
using test_support::TraceBuilder;

namespace
{
struct Read {
    std::vector<uint64_t> ticks;
    std::vector<bool> after_loss; // by block
    std::vector<uint64_t> left_out;
    nsdump::StreamFaults faults;
    uint64_t damaged = 0;
};

Read read(const std::string &bytes, uint32_t cpu)
{
    nsdump::TraceFile trace(source_of(bytes));
    for (const nsdump::CpuChunks &chunks : trace.cpus()) {
        if (chunks.cpu != cpu)
            continue;
        Read out;
        nsdump::CpuStream stream(trace, chunks);
        for (auto block = stream.next_block(); !block.empty(); block = stream.next_block()) {
            out.after_loss.push_back(stream.is_after_loss());
            out.left_out.push_back(stream.left_out_so_far());
            for (const nsdump::Event &event : block)
                out.ticks.push_back(event.ticks);
        }
        out.faults = stream.faults();
        out.damaged = trace.damage().chunks();
        return out;
    }
    return {};
}

using Ticks = std::vector<uint64_t>;
} // namespace

TEST_CASE("a stream returns only the events of its CPU, over many chunks and blocks",
          "[nsdump][stream]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    trace.set_chunk_bytes(1 << 15);
    for (uint64_t i = 0; i < 10000; ++i)
        trace.start(i % 2, 1, 1, i);
    const Read out = read(trace.bytes(), 1);
    REQUIRE(out.ticks.size() == 5000);
    CHECK(out.ticks[4999] == 9999);
    CHECK(out.faults.decoded == 5000);
    CHECK(out.faults.ticks_back == 0);
    for (const bool lost : out.after_loss)
        REQUIRE_FALSE(lost);
}

TEST_CASE("a chunk with a wrong checksum is skipped and reported, and counts as a loss",
          "[nsdump][stream]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    std::vector<size_t> starts;
    for (uint64_t i = 0; i < 3; ++i) {
        starts.push_back(trace.written_bytes());
        trace.start(0, 1, 1, i);
        trace.cut_all();
    }
    std::string bytes = trace.bytes();
    bytes[starts[1] + 64] ^= 1;
    const Read out = read(bytes, 0);
    CHECK(out.ticks == Ticks{0, 2});
    CHECK(out.after_loss == std::vector<bool>{false, true});
    CHECK(out.damaged == 1);
}

TEST_CASE("lost records mark the place where they were lost, and no other", "[nsdump][stream]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    for (uint64_t i = 0; i < 4; ++i) {
        trace.start(0, 1, 1, i);
        if (i == 1)
            trace.lose(0, NSLICE_LOST_FULL, 7);
        trace.cut_all();
    }
    CHECK(read(trace.bytes(), 0).after_loss == std::vector<bool>{false, false, true, false});
}

TEST_CASE("records that a pause left out are counted on all CPUs, and are no loss",
          "[nsdump][stream]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    for (uint64_t i = 0; i < 4; ++i) {
        trace.start(0, 1, 1, i);
        trace.start(1, 2, 1, i);
        if (i == 1)
            trace.leave_out(7);
        trace.cut_all();
    }
    for (const uint32_t cpu : {0u, 1u}) {
        const Read out = read(trace.bytes(), cpu);
        CHECK(out.left_out == std::vector<uint64_t>{0, 0, 7, 7});
        CHECK(out.after_loss == std::vector<bool>(4, false));
    }
}

TEST_CASE("headers with wrong numbers and clocks that go back are counted", "[nsdump][stream]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    const size_t at = trace.written_bytes();
    trace.start(0, 1, 1, 100);
    trace.start(0, 1, 1, 50);
    std::string bytes = trace.bytes();
    const uint32_t records = 9;
    std::memcpy(bytes.data() + at + offsetof(nslice_chunk_header, records), &records, 4);
    test_support::seal_chunk_header(bytes, at);
    const Read out = read(bytes, 0);
    CHECK(out.ticks == Ticks{100, 50});
    CHECK(out.faults.ticks_back == 1);
    CHECK(out.faults.wrong_counts == 1);
    CHECK(out.faults.declared == 9);
}

TEST_CASE("a header whose time is not that of the first record is counted", "[nsdump][stream]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    const size_t at = trace.written_bytes();
    trace.start(0, 1, 1, 100);
    trace.cut_all();
    trace.start(0, 1, 1, 200);
    std::string bytes = trace.bytes();
    CHECK(read(bytes, 0).faults.wrong_starts == 0);
    const uint64_t late = 1 << 30;
    std::memcpy(bytes.data() + at + offsetof(nslice_chunk_header, first_ticks), &late, 8);
    test_support::seal_chunk_header(bytes, at);
    CHECK(read(bytes, 0).faults.wrong_starts == 1);
    CHECK(nsdump::TraceFile(test_support::source_of(bytes)).cpus().at(0).early_chunks == 1);
}

TEST_CASE("a payload too short for a record is counted, also in the first chunk",
          "[nsdump][stream]")
{
    for (const bool is_first : {false, true}) {
        TraceBuilder trace;
        trace.info(test_support::plain_info());
        if (!is_first)
            trace.start(0, 1, 1, 100);
        trace.cut_all();
        const uint64_t word = 1;
        trace.chunk(NSLICE_CHUNK_RECORDS, &word, sizeof word);
        trace.start(0, 1, 1, 200);
        CHECK(read(trace.bytes(), 0).faults.malformed_chunks == 1);
    }
}

TEST_CASE("a clock that goes back by more than half its range is counted", "[nsdump][stream]")
{
    constexpr uint64_t kHalf = uint64_t{1} << 63;
    const auto chunks_back = [](const std::vector<Ticks> &chunks) {
        TraceBuilder trace;
        trace.info(test_support::plain_info());
        for (const Ticks &chunk : chunks) {
            for (const uint64_t ticks : chunk)
                trace.start(0, 1, 1, ticks);
            trace.cut_all();
        }
        return read(trace.bytes(), 0).faults.ticks_back;
    };
    CHECK(chunks_back({{kHalf / 2, kHalf + 10, 5}}) == 1);
    CHECK(chunks_back({{kHalf / 2, kHalf + 10}, {5, 6}}) == 1); // between two blocks
    CHECK(chunks_back({{kHalf / 2, kHalf + 10, 5, kHalf}, {kHalf + 20, kHalf + 19}}) == 2);
    CHECK(chunks_back({{kHalf / 2, kHalf + 10, kHalf + 20}, {~uint64_t{0}}}) == 0);
    CHECK(chunks_back({{5, kHalf + 10}}) == 0);                  // a long step forward
    CHECK(chunks_back({{100}, {50}, {~uint64_t{0}}, {0}}) == 2); // a block each
    CHECK(chunks_back({Ticks(2000, kHalf)}) == 0);               // several blocks
}

namespace
{
// Records of CPU 1, between a few of CPU 0.
void write_chunks(const std::string &path, size_t chunk_bytes, uint64_t records)
{
    TraceBuilder builder;
    builder.info(test_support::plain_info());
    builder.set_chunk_bytes(chunk_bytes);
    for (uint64_t i = 0; i < records; ++i) {
        if (i % 1000 == 0)
            builder.start(0, 1, 1, i);
        builder.start(1, 1, 1, i);
    }
    builder.write(path);
}

// For each payload of CPU 1, whether it had an address to prefetch, which must be that of the next.
std::vector<bool> read_ahead(const std::string &path, uint64_t records_written,
                             nsdump::FasterWay *ahead)
{
    nsdump::TraceFile trace(path);
    nsdump::CpuStream stream(trace, trace.cpus()[1]);
    std::vector<bool> has_address;
    uint64_t expected_ticks = 0;
    while (nsdump::RecordCursor *const records = stream.next_payload(ahead)) {
        REQUIRE(records->at[0] == expected_ticks);
        expected_ticks += uint64_t(records->end - records->at) / NSLICE_HEAD_WORDS;
        has_address.push_back(records->ahead_bytes != 0);
        if (records->ahead_bytes == 0)
            continue;
        const auto *const next = reinterpret_cast<const uint64_t *>(
            reinterpret_cast<uintptr_t>(records->at) + records->ahead_bytes);
        REQUIRE(next[0] == expected_ticks); // the test's file is not truncated
    }
    CHECK(expected_ticks == records_written);
    return has_address;
}
} // namespace

TEST_CASE("a large payload says where the next one of its CPU can be prefetched, if that is faster",
          "[nsdump][stream]")
{
    const size_t chunk_bytes = GENERATE(size_t(1 << 12), size_t(NSLICE_MAX_PAYLOAD_BYTES));
    const bool is_asked = GENERATE(false, true), is_faster = GENERATE(false, true);
    test_support::TempDir folder;
    const std::string path = folder / "a.nsl";
    constexpr uint64_t kRecords = 100'000;
    write_chunks(path, chunk_bytes, kRecords);
    if (!test_support::can_look_ahead_in(path))
        return;
    nsdump::FasterWay ahead;
    while (!ahead.is_decided())
        ahead.note(ahead.is_other() == is_faster ? 1 : 2);
    const std::vector<bool> has_address = read_ahead(path, kRecords, is_asked ? &ahead : nullptr);
    const bool has_any = is_asked && is_faster && chunk_bytes == size_t(NSLICE_MAX_PAYLOAD_BYTES);
    CHECK(size_t(std::ranges::count(has_address, true)) == (has_any ? has_address.size() - 1 : 0));
}

TEST_CASE("the first payloads are read both ways in turns, the others in the faster one",
          "[nsdump][stream]")
{
    constexpr size_t kTrial = 2 * nsdump::FasterWay::kParts;
    test_support::TempDir folder;
    const std::string path = folder / "a.nsl";
    constexpr uint64_t kRecords =
        (kTrial + 5) * NSLICE_MAX_PAYLOAD_BYTES / sizeof(nslice_record_head);
    write_chunks(path, NSLICE_MAX_PAYLOAD_BYTES, kRecords);
    if (!test_support::can_look_ahead_in(path))
        return;
    nsdump::FasterWay ahead;
    const std::vector<bool> has_address = read_ahead(path, kRecords, &ahead);
    REQUIRE(has_address.size() >= kTrial + 5);
    CHECK(ahead.is_decided());
    for (size_t i = 0; i + 1 < has_address.size(); ++i)
        CHECK(has_address[i] == (i < kTrial ? i % 2 == 1 : ahead.is_other()));
}
