// SPDX-License-Identifier: MIT
#include "decode/file_reader.hpp"

#include "decode/error.hpp"
#include "nsdump_support.hpp"
#include "support/catch.hpp"

using Catch::Matchers::Contains;
using nsdump::TraceFile;
using test_support::source_of;
using test_support::TraceBuilder;

namespace
{
std::string small_trace()
{
    TraceBuilder trace;
    trace.info(test_support::plain_info(1e9, "INSTRUCTIONS,CYCLES"));
    trace.calibration(NSLICE_CALIBRATION_START, 1000, 0,
                      {test_support::entry(NSLICE_KIND_START, 0, 20, 40)});
    const auto rx = trace.site("rx");
    trace.start(5, 1, rx, 2000);
    trace.stop(5, 1, rx, 2100);
    trace.cut_all();
    trace.start(2, 1, rx, 2200);
    trace.footer(NSLICE_END_KILLED, 3000, 2000);
    return trace.bytes();
}

void reseal_header(std::string &bytes)
{
    const uint32_t crc = test_support::slow_crc32c(bytes.data(), 60);
    std::memcpy(bytes.data() + 60, &crc, 4);
}
} // namespace

TEST_CASE("a trace's metadata and chunks are found", "[nsdump][file]")
{
    TraceFile trace(source_of(small_trace()));
    CHECK(trace.header().version == 1);
    CHECK(trace.info("clock.mode") == "fast");
    CHECK(trace.info("no such key").empty());
    CHECK(trace.counter_names() == std::vector<std::string>{"INSTRUCTIONS", "CYCLES"});
    REQUIRE(trace.calibrations().size() == 1);
    CHECK(trace.calibrations()[0].entries.at(0).outer == 40);
    REQUIRE(trace.cpus().size() == 2);
    CHECK(trace.cpus()[0].cpu == 2);
    CHECK(trace.cpus()[1].records == 2);
    REQUIRE(trace.footer());
    CHECK(trace.footer()->end == NSLICE_END_KILLED);
    CHECK(trace.damage().chunks() == 0);
}

TEST_CASE("files that are not traces are refused with name, place and reason", "[nsdump][file]")
{
    std::string bytes = small_trace();
    CHECK_THROWS_WITH(TraceFile(source_of("", "e.nsl")), Contains("e.nsl") && Contains("empty"));
    CHECK_THROWS_WITH(TraceFile(source_of("hello", "h.nsl")),
                      Contains("h.nsl") && Contains("not a NetSlice trace"));
    CHECK_THROWS_WITH(TraceFile(source_of(bytes.substr(0, 40))),
                      Contains("byte 40") && Contains("inside its header"));

    std::string newer = bytes;
    newer[8] = 9;
    reseal_header(newer);
    CHECK_THROWS_WITH(TraceFile(source_of(newer)),
                      Contains("version 9") && Contains("up to 1") && Contains("newer nsdump"));

    std::string foreign = bytes;
    std::reverse(foreign.begin() + 16, foreign.begin() + 20);
    CHECK_THROWS_WITH(TraceFile(source_of(foreign)), Contains("opposite byte order"));
}

TEST_CASE("a damaged file header is reported and the chunks are still read", "[nsdump][file]")
{
    for (const size_t place : {8, 13, 30, 62}) {
        std::string bytes = small_trace();
        bytes[place] ^= 0x40;
        TraceFile trace(source_of(bytes));
        CHECK(trace.is_header_damaged());
        CHECK(trace.damage().chunks() == 1);
        CHECK(trace.cpus().size() == 2);
    }
}

TEST_CASE("gaps and repeats in a CPU's sequence are counted", "[nsdump][file]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    const auto rx = trace.site("rx");
    std::vector<size_t> starts;
    for (uint64_t i = 0; i < 4; ++i) {
        starts.push_back(trace.written_bytes());
        trace.start(0, 1, rx, i);
        trace.cut_all();
    }
    const std::string bytes = trace.bytes();
    const size_t chunk = starts[1] - starts[0];
    std::string missing = bytes;
    missing.erase(starts[1], 2 * chunk);
    CHECK(TraceFile(source_of(missing)).missing_chunks() == 2);

    const std::string twice = bytes + bytes.substr(starts[0], chunk);
    CHECK(TraceFile(source_of(twice)).cpus().at(0).misplaced_chunks == 1);
}

TEST_CASE("chunks of unknown kind are skipped and counted", "[nsdump][file]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    trace.chunk(77, "anything", 8);
    TraceFile file(source_of(trace.bytes()));
    CHECK(file.unknown_chunks() == 1);
    CHECK(file.damage().chunks() == 0);
    CHECK_FALSE(file.footer());
}

TEST_CASE("more counters than a record can carry are refused", "[nsdump][file]")
{
    TraceBuilder trace;
    trace.info("counters.names=a,b,c,d,e,f,g\n");
    TraceFile file(source_of(trace.bytes()));
    CHECK(file.counter_names().empty());
    CHECK(file.metadata_faults() == 1);
}

TEST_CASE("epochs are read in file order, with the processes of the sites", "[nsdump][file]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    const auto rx = trace.site("rx", NSLICE_KIND_START, "app.c", 1, 12);
    trace.epoch(50, 60, {rx}, 12).epoch(10, 20, {}, 12);
    const TraceFile file(source_of(trace.bytes()));
    REQUIRE(file.epochs().size() == 2);
    CHECK(file.epochs()[0].off == std::vector<uint16_t>{rx});
    CHECK(file.epochs()[1].begin_ticks == 10);
    CHECK(file.names().pid_of(rx) == 12);
    CHECK(file.names().pid_of(500) == 0);
    CHECK(file.lost_epoch_chunks() == 0);
    CHECK(TraceFile(source_of(small_trace())).epochs().empty());
}

TEST_CASE("chunks of epochs that are missing at the end are noticed by their number",
          "[nsdump][file]")
{
    for (const auto &[reported, missing, faults] :
         {std::tuple("2", 1, 0), std::tuple("1", 0, 0), std::tuple("x", 0, 1)}) {
        TraceBuilder trace;
        trace.epoch(10, 20, {});
        trace.info(std::string("session.epoch_chunks=") + reported + "\n");
        trace.footer(NSLICE_END_CLOSED, 1000, 1000);
        const TraceFile file(source_of(trace.bytes()));
        CHECK(file.metadata().missing(NSLICE_CHUNK_EPOCHS) == uint64_t(missing));
        CHECK(file.metadata_faults() == uint64_t(faults));
    }
}

TEST_CASE("a malformed or missing chunk of epochs is noticed", "[nsdump][file]")
{
    TraceBuilder trace;
    trace.info(test_support::plain_info());
    const size_t first = trace.written_bytes();
    trace.epoch(10, 20, {});
    const size_t second = trace.written_bytes();
    trace.epoch(30, 25, {});
    trace.epoch(40, 50, {});
    const TraceFile file(source_of(trace.bytes()));
    CHECK(file.epochs().size() == 2);
    CHECK(file.lost_epoch_chunks() == 1);
    CHECK(file.metadata_faults() == 1);

    std::string gap = trace.bytes();
    gap.erase(first, second - first);
    CHECK(TraceFile(source_of(gap)).metadata().missing(NSLICE_CHUNK_EPOCHS) == 1);
}
