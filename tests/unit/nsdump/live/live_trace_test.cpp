// SPDX-License-Identifier: MIT
#include "live/live_trace.hpp"

#include <random>

#include "analyse/analyse.hpp"
#include "decode/chunk_walker.hpp"
#include "decode/error.hpp"
#include "nsdump_support.hpp"
#include "support/catch.hpp"

using nsdump::LiveInterval;
using nsdump::LiveTrace;
using nsdump::SliceReport;
using test_support::entry;
using test_support::TraceBuilder;

namespace
{
constexpr uint32_t kCpus = 4;
constexpr size_t kHeaderBytes = sizeof(nslice_file_header);

std::vector<std::byte> bytes_of(const std::string &text)
{
    std::vector<std::byte> bytes(text.size());
    std::memcpy(bytes.data(), text.data(), text.size());
    return bytes;
}

// Each chunk with the header.
std::vector<std::string> parts_of(const std::string &trace)
{
    const auto source = test_support::source_of(trace);
    nsdump::ChunkWalker walker(*source, nsdump::kFormatV1, kHeaderBytes, nullptr);
    std::vector<std::string> parts;
    for (nsdump::Chunk chunk; walker.next(chunk);)
        parts.push_back(trace.substr(0, kHeaderBytes) +
                        trace.substr(chunk.offset, nsdump::kFormatV1.chunk_header_bytes +
                                                       chunk.header.payload_bytes));
    return parts;
}

LiveInterval read(const std::vector<std::string> &parts)
{
    LiveTrace live(kCpus);
    for (const std::string &part : parts)
        live.take(bytes_of(part));
    return live.end_interval();
}

struct Sites {
    uint16_t unit, outer, inner;
};

Sites begin(TraceBuilder &trace)
{
    trace.info(test_support::plain_info(1e9, "INSTRUCTIONS"));
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0,
                      {entry(NSLICE_KIND_START, 0, 10, 20), entry(NSLICE_KIND_START, 1, 5, 9)});
    return {trace.site("unit", NSLICE_KIND_INIT), trace.site("outer"), trace.site("inner")};
}

struct CutTrace {
    std::string bytes;
    std::vector<std::string> parts; // up to a moment each, as a drain makes them
};

// Units on two CPUs in turn, by a thread that moves, and a thread that stays.
CutTrace busy_trace()
{
    CutTrace out;
    TraceBuilder trace;
    const Sites sites = begin(trace);
    std::vector<size_t> ends = {trace.written_bytes()};
    uint64_t ticks = 1000;
    for (uint64_t round = 0; round < 300; ++round) {
        const auto cpu = uint32_t(round % 2);
        trace.init(cpu, 7, sites.unit, ticks, round, 4, 256);
        trace.start(cpu, 7, sites.outer, ticks + 10, {round * 100});
        trace.start(cpu, 7, sites.inner, ticks + 20, {round * 100 + 10});
        trace.start(3, 8, sites.inner, ticks + 25, {round * 50});
        if (round % 5 == 4) {
            trace.cut_all();
            ends.push_back(trace.written_bytes());
        }
        trace.stop(cpu, 7, sites.inner, ticks + 40 + round % 7, {round * 100 + 30});
        trace.stop(3, 8, sites.inner, ticks + 90, {round * 50 + 20});
        trace.stop(cpu, 7, sites.outer, ticks + 95, {round * 100 + 60});
        trace.exit(cpu, 7, sites.unit, ticks + 100);
        ticks += 200;
    }
    out.bytes = trace.bytes();
    ends.push_back(out.bytes.size());
    size_t begin = kHeaderBytes;
    for (const size_t end : ends) {
        out.parts.push_back(out.bytes.substr(0, kHeaderBytes) +
                            out.bytes.substr(begin, end - begin));
        begin = end;
    }
    return out;
}

const SliceReport &slice_of(const nsdump::StatsReport &report, const std::string &name)
{
    for (const SliceReport &slice : report.slices)
        if (slice.name == name)
            return slice;
    FAIL("no slice " << name);
    return report.slices.front();
}
} // namespace

TEST_CASE("parts of a trace give the figures of the whole trace", "[nsdump][live]")
{
    const CutTrace trace = busy_trace();
    nsdump::TraceFile whole(test_support::source_of(trace.bytes));
    const nsdump::StatsReport expected = nsdump::analyse_trace(whole, {});
    const LiveInterval interval = read(trace.parts);
    CHECK(interval.report.records == expected.records);
    CHECK(interval.report.classes.unmatched_stop == 0);
    CHECK(interval.unread_records == 0);
    CHECK(interval.pair_ticks == 20);
    REQUIRE(interval.report.slices.size() == expected.slices.size());
    for (const SliceReport &slice : expected.slices) {
        const SliceReport &found = slice_of(interval.report, slice.name);
        CHECK(found.count == slice.count);
        CHECK(found.packets == slice.packets);
        REQUIRE(found.values.size() == slice.values.size());
        for (size_t field = 0; field < slice.values.size(); ++field) {
            CHECK(found.values[field].net->mean == Approx(slice.values[field].net->mean));
            CHECK(found.values[field].net->total == Approx(slice.values[field].net->total));
        }
    }
    CHECK(slice_of(interval.report, "outer").values[0].per_packet->net.has_value());
}

TEST_CASE("a slice belongs to the interval in which it ends, and to no other", "[nsdump][live]")
{
    TraceBuilder trace;
    const Sites sites = begin(trace);
    trace.start(0, 1, sites.outer, 100, {0});
    trace.cut_all();
    trace.stop(0, 1, sites.outer, 400, {10});
    trace.cut_all();
    const std::vector<std::string> parts = parts_of(trace.bytes());
    LiveTrace live(kCpus);
    for (size_t part = 0; part + 1 < parts.size(); ++part)
        live.take(bytes_of(parts[part]));
    CHECK(live.end_interval().report.slices.empty());
    live.take(bytes_of(parts.back()));
    const LiveInterval second = live.end_interval();
    CHECK(slice_of(second.report, "outer").count == 1);
    CHECK(slice_of(second.report, "outer").values[0].net->mean == 290);
    CHECK(live.end_interval().report.slices.empty());
}

TEST_CASE("records lost between two parts leave out the slice that was open", "[nsdump][live]")
{
    TraceBuilder trace;
    const Sites sites = begin(trace);
    trace.start(0, 1, sites.outer, 100, {0});
    trace.cut_all();
    trace.lose(0, NSLICE_LOST_FULL, 3);
    trace.stop(0, 1, sites.outer, 400, {10});
    trace.start(0, 1, sites.outer, 500, {10});
    trace.stop(0, 1, sites.outer, 600, {20});
    trace.cut_all();
    const LiveInterval interval = read(parts_of(trace.bytes()));
    CHECK(slice_of(interval.report, "outer").spans_loss == 1);
    CHECK(slice_of(interval.report, "outer").count == 1);
}

TEST_CASE("records of a CPU that the machine does not have are counted", "[nsdump][live]")
{
    TraceBuilder trace;
    const Sites sites = begin(trace);
    trace.start(kCpus, 1, sites.outer, 100, {0});
    trace.stop(kCpus, 1, sites.outer, 200, {0});
    const LiveInterval interval = read(parts_of(trace.bytes()));
    CHECK(interval.unread_records == 2);
    CHECK(interval.report.slices.empty());
}

TEST_CASE("before the first records there is an interval without slices", "[nsdump][live]")
{
    LiveTrace live(kCpus);
    CHECK(live.end_interval().report.slices.empty());
    TraceBuilder trace;
    begin(trace);
    live.take(bytes_of(trace.bytes()));
    const LiveInterval interval = live.end_interval();
    CHECK(interval.report.clock.hz == 1e9);
    CHECK(interval.pair_ticks == 20);
}

TEST_CASE("damaged parts lose records but nothing else", "[nsdump][live]")
{
    const CutTrace trace = busy_trace();
    const uint64_t all_records = read(trace.parts).report.records;
    std::mt19937 random(28);
    for (int round = 0; round < 200; ++round) {
        LiveTrace live(kCpus);
        for (std::string part : trace.parts) {
            for (int places = int(random() % 4); places > 0; --places)
                part[kHeaderBytes + random() % (part.size() - kHeaderBytes)] = char(random());
            part.resize(part.size() - random() % 2 * (random() % (part.size() - kHeaderBytes)));
            live.take(bytes_of(part));
        }
        CHECK(live.end_interval().report.records <= all_records);
    }
}

TEST_CASE("a part that is no trace is refused", "[nsdump][live]")
{
    LiveTrace live(kCpus);
    CHECK_THROWS_AS(live.take(bytes_of("not a trace, but long enough for a header ..........")),
                    nsdump::TraceError);
}
