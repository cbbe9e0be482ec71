// SPDX-License-Identifier: MIT
#include "analyse/by_cpu/by_cpu.hpp"

#include <algorithm>

#include "analyse/analyse.hpp"
#include "export/exporter.hpp"
#include "nsdump_support.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using test_support::entry;
using test_support::source_of;
using test_support::TraceBuilder;

namespace
{
constexpr uint32_t kCpus = 5;

// Units with nested slices, marks and long slices; what has no partner; a loss on CPU 3.
void write_cpu(TraceBuilder &trace, uint32_t cpu, const std::vector<uint16_t> &ids)
{
    const uint32_t thread = 100 + cpu;
    uint64_t ticks = 1000 + cpu * 7;
    for (uint64_t i = 0; i < 3000 + 100 * cpu; ++i) {
        trace.init(cpu, thread, ids[0], ticks += 5, i, 4, 400);
        trace.start(cpu, thread, ids[1], ticks += 11);
        trace.start(cpu, thread, ids[2], ticks += 13);
        trace.stop(cpu, thread, ids[2], ticks += 40 + i % (17 + cpu));
        if (i % 100 == 0)
            trace.start(cpu, thread, ids[4], ticks += 3); // its STOP is missing
        trace.mark(cpu, thread, ids[3], ticks += 2, i % 9);
        trace.stop(cpu, thread, ids[1], ticks += i % 50 == 0 ? 10'000 : 30);
        trace.exit(cpu, thread, ids[0], ticks += 2);
        if (cpu == 3 && i == 1500)
            trace.lose(cpu, NSLICE_LOST_FULL, 17);
    }
}

std::vector<uint16_t> sites(TraceBuilder &trace)
{
    return {trace.site("packet", NSLICE_KIND_INIT), trace.site("outer"), trace.site("inner"),
            trace.site("length", NSLICE_KIND_MARK), trace.site("cut")};
}

TraceBuilder made(uint32_t cpus = kCpus, size_t chunk_bytes = 4096)
{
    TraceBuilder trace;
    trace.set_chunk_bytes(chunk_bytes);
    trace.info(test_support::plain_info(1e9));
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0, {entry(NSLICE_KIND_START, 0, 7, 21)});
    const auto ids = sites(trace);
    for (uint32_t cpu = 0; cpu < cpus; ++cpu)
        write_cpu(trace, cpu, ids);
    return trace;
}

nsdump::StatsReport analyse(TraceBuilder &builder, unsigned threads)
{
    nsdump::TraceFile trace(source_of(builder.bytes()));
    nsdump::AnalyseOptions options;
    options.threads = threads;
    return nsdump::analyse_trace(trace, options);
}

bool is_read_by_cpu(const std::string &bytes)
{
    nsdump::TraceFile trace(source_of(bytes));
    const nsdump::Correction correction(trace, nullptr);
    bool is_interrupted = false;
    return nsdump::read_by_cpu(trace, correction, {2, false, {}}, is_interrupted) != nullptr;
}
} // namespace

TEST_CASE("the report is the same to the bit for any number of threads", "[nsdump][by_cpu]")
{
    TraceBuilder trace = made();
    REQUIRE(is_read_by_cpu(trace.bytes()));
    REQUIRE(is_read_by_cpu(made(1).bytes()));
    const std::string one = nsdump::stats_json(analyse(trace, 1));
    for (const unsigned threads : {0u, 2u, 3u, 5u, 16u})
        REQUIRE(nsdump::stats_json(analyse(trace, threads)) == one);
}

TEST_CASE("a file whose chunks one thread prefetches has the same report", "[nsdump][by_cpu]")
{
    TraceBuilder builder = made(kCpus, NSLICE_MAX_PAYLOAD_BYTES);
    test_support::TempDir folder;
    builder.write(folder / "a.nsl");
    nsdump::TraceFile trace(folder / "a.nsl");
    REQUIRE(trace.cpus()[0].chunks > 1);
    nsdump::StatsReport in_memory = analyse(builder, 2);
    in_memory.path = folder / "a.nsl";
    nsdump::AnalyseOptions options;
    for (const unsigned threads : {1u, 2u}) {
        options.threads = threads;
        CHECK(nsdump::stats_json(nsdump::analyse_trace(folder / "a.nsl", options)) ==
              nsdump::stats_json(in_memory));
    }
}

TEST_CASE("CPUs that are read apart give the figures of one pass over all", "[nsdump][by_cpu]")
{
    TraceBuilder apart = made(), together = made();
    for (const uint32_t cpu : {0u, 1u}) // a thread that moves, with nothing that is paired
        together.exit(cpu, 999, 60000, uint64_t{1} << 40);
    REQUIRE_FALSE(is_read_by_cpu(together.bytes()));
    const auto by_cpu = analyse(apart, 2), whole = analyse(together, 2);
    REQUIRE(by_cpu.slices.size() == whole.slices.size());
    for (const nsdump::SliceReport &slice : by_cpu.slices) {
        const auto found = std::ranges::find(whole.slices, slice.name, &nsdump::SliceReport::name);
        REQUIRE(found != whole.slices.end());
        CHECK(slice.count == found->count);
        CHECK(slice.packets == found->packets);
        CHECK(slice.spans_loss == found->spans_loss);
        CHECK(slice.unmatched_start == found->unmatched_start);
        CHECK(slice.interrupted == found->interrupted);
        REQUIRE(slice.values.size() == found->values.size());
        if (slice.values.empty())
            continue;
        const nsdump::FieldReport &a = slice.values[0], &b = found->values[0];
        CHECK(a.raw.total == Approx(b.raw.total));
        CHECK(a.net->mean == Approx(b.net->mean));
        CHECK(a.net->sd == Approx(b.net->sd));
        CHECK(a.net->min == b.net->min);
        CHECK(a.net->max == b.net->max);
        CHECK(a.net->p99 == b.net->p99);
        CHECK(a.net->trimmed_mean == Approx(b.net->trimmed_mean));
        CHECK(a.self->total == Approx(b.self->total));
        CHECK(*a.per_packet->net == Approx(*b.per_packet->net));
        // The blocks are other ones, of values with the same spread.
        CHECK(*a.net->ci95 == Approx(*b.net->ci95).epsilon(0.5));
    }
    REQUIRE(by_cpu.units.size() == 1);
    CHECK(by_cpu.units[0].packets == whole.units[0].packets);
    CHECK(by_cpu.marks.at(0).sum == whole.marks.at(0).sum);
    CHECK(by_cpu.losses.lost_sum() == 17);
    CHECK(by_cpu.classes.unmatched_start == whole.classes.unmatched_start);
}

TEST_CASE("a trace whose CPUs depend on each other is read in one pass", "[nsdump][by_cpu]")
{
    TraceBuilder unknown = made();
    unknown.start(2, 102, 60000, uint64_t{1} << 40);
    CHECK_FALSE(is_read_by_cpu(unknown.bytes()));

    TraceBuilder kernel = made();
    kernel.start(TraceBuilder::kernel(0), 100, kernel.kernel_site("irq"), uint64_t{1} << 40);
    CHECK_FALSE(is_read_by_cpu(kernel.bytes()));

    TraceBuilder paused = made();
    paused.leave_out(5);
    paused.stop(2, 102, 2, uint64_t{1} << 40);
    CHECK_FALSE(is_read_by_cpu(paused.bytes()));

    TraceBuilder many;
    many.info(test_support::plain_info(1e9));
    const auto ids = sites(many);
    for (size_t i = 0; i < nsdump::kMaxTalliedNames; ++i)
        many.site("name" + std::to_string(i));
    write_cpu(many, 0, ids);
    write_cpu(many, 1, ids);
    CHECK_FALSE(is_read_by_cpu(many.bytes()));
}

TEST_CASE("a damaged chunk is counted once", "[nsdump][by_cpu]")
{
    TraceBuilder builder = made(3);
    const std::string whole = builder.bytes();
    const nsdump::TraceFile intact(source_of(whole));
    for (const nsdump::CpuChunks &cpu : intact.cpus()) {
        nsdump::Offsets::Reader reader(cpu.offsets);
        std::vector<uint64_t> offsets;
        for (uint64_t offset = 0; reader.next(offset);)
            offsets.push_back(offset);
        for (const size_t chunk : {size_t{0}, offsets.size() / 2, offsets.size() - 1}) {
            std::string bytes = whole;
            bytes[offsets[chunk] + sizeof(nslice_chunk_header) + 8] ^= 1;
            REQUIRE_FALSE(is_read_by_cpu(bytes));
            nsdump::TraceFile trace(source_of(bytes));
            const auto report = nsdump::analyse_trace(trace);
            REQUIRE(report.damaged_chunks == 1);
            REQUIRE(report.has_findings());
        }
    }
}

TEST_CASE("reading by several threads ends early if progress() returns false", "[nsdump][by_cpu]")
{
    TraceBuilder builder = made();
    nsdump::TraceFile trace(source_of(builder.bytes()));
    nsdump::AnalyseOptions options;
    options.threads = 3;
    uint64_t calls = 0;
    options.progress = [&](uint64_t done_bytes, uint64_t all_bytes) {
        CHECK(done_bytes <= all_bytes);
        ++calls;
        return false;
    };
    const auto report = nsdump::analyse_trace(trace, options);
    CHECK(calls == 1);
    CHECK(report.is_interrupted);
}
