// SPDX-License-Identifier: MIT
// A damaged trace compared with the original: every figure is equal, marked or withheld, and
// `check` and `stats` agree.
#include <cstring>
#include <map>

#include "analyse/analyse.hpp"
#include "decode/error.hpp"
#include "support/catch.hpp"
#include "support/trace_builder.hpp"

namespace
{
constexpr int kRounds = 6;

// Programs and kernel; a slice with two STOP sites, one with two START sites, units, marks, nested
// slices.
std::string small_trace(bool tells_chunks)
{
    using namespace test_support;
    TraceBuilder trace;
    trace.info(plain_info(1e9, "INSTRUCTIONS"));
    trace.calibration(NSLICE_CALIBRATION_START, 900, 0,
                      {entry(NSLICE_KIND_START, 0, 20, 40, 0.5),
                       entry(NSLICE_KIND_START, 1, 3, 6, 0), entry(NSLICE_KIND_INIT, 0, 0, 21, 1)},
                      1, 20);
    const auto unit = trace.site("batch", NSLICE_KIND_INIT), rx = trace.site("rx"),
               early = trace.site("rx", NSLICE_KIND_STOP),
               late = trace.site("rx", NSLICE_KIND_STOP), tx = trace.site("tx"),
               other_tx = trace.site("tx"), length = trace.site("length", NSLICE_KIND_MARK);
    const auto irq = trace.kernel_site("irq", NSLICE_KIND_START, NSLICE_SITE_INTERRUPT);
    if (tells_chunks)
        trace.info("writer.version=later\n");
    uint64_t ticks = 1000, count = 0;
    for (int i = 0; i < kRounds; ++i) {
        const auto cpu = uint32_t(i % 2);
        trace.init(cpu, 1, unit, ticks += 100, uint64_t(i), 4, 256);
        trace.start(cpu, 1, rx, ticks += 100, {count += 50});
        trace.start(cpu, 1, i % 3 ? tx : other_tx, ticks += 100, {count += 50});
        trace.start(TraceBuilder::kernel(cpu), 1, irq, ticks += 10);
        trace.stop(TraceBuilder::kernel(cpu), 1, irq, ticks += 20);
        trace.stop(cpu, 1, tx, ticks += 100, {count += 70});
        trace.mark(cpu, 1, length, ticks += 10, uint64_t(i));
        trace.stop(cpu, 1, i % 2 ? early : late, ticks += 100, {count += 10});
        trace.exit(cpu, 1, unit, ticks += 10);
        if (i == 3)
            trace.cut_all();
    }
    trace.cut_all();
    trace.calibration(NSLICE_CALIBRATION_END, 9000, 8100,
                      {entry(NSLICE_KIND_START, 0, 22, 44, 0.5),
                       entry(NSLICE_KIND_START, 1, 3, 6, 0), entry(NSLICE_KIND_INIT, 0, 0, 21, 1)},
                      1, 20);
    if (!tells_chunks)
        trace.leave_out_chunk_counts();
    trace.footer(NSLICE_END_CLOSED, 9000, 8100);
    return trace.bytes();
}

std::optional<nsdump::StatsReport> analyse(const std::string &bytes)
{
    std::vector<std::byte> copy(bytes.size());
    if (!bytes.empty())
        std::memcpy(copy.data(), bytes.data(), bytes.size());
    try {
        nsdump::TraceFile trace(nsdump::bytes_in_memory(std::move(copy), "damaged.nsl"));
        nsdump::AnalyseOptions options;
        options.threads = 1; // starting another would take a quarter of the time
        return nsdump::analyse_trace(trace, options);
    } catch (const nsdump::TraceError &) {
        return std::nullopt;
    }
}

// Name -> its figures as text; only figures that are not marked.
std::map<std::string, std::string> unmarked(const nsdump::StatsReport &report)
{
    std::map<std::string, std::string> out;
    const auto add = [&](const auto &figures, const std::string &text) {
        if (!figures.is_incomplete)
            out[figures.name] += text + ";";
    };
    const auto text = [](auto... values) {
        std::string all;
        ((all += std::to_string(values) + " "), ...);
        return all;
    };
    for (const nsdump::SliceReport &slice : report.slices) {
        add(slice, text(slice.count, slice.spans_loss, slice.unmatched_start, slice.unmatched_stop,
                        slice.interrupts, slice.taken_ticks));
        for (const nsdump::FieldReport &field : slice.values) {
            add(slice,
                field.field + text(field.count, field.raw.mean, field.raw.max, field.packets));
            add(slice, field.net ? text(field.net->mean, field.net->ci95.value_or(-1)) : "no net");
            add(slice, field.self ? text(field.self->mean) : "no self");
        }
    }
    for (const nsdump::UnitReport &unit : report.units)
        add(unit, text(unit.units, unit.packets, unit.wire_bytes));
    for (const nsdump::MarkReport &mark : report.marks)
        add(mark, text(mark.count, mark.sum));
    return out;
}

void check_against_truth(const std::string &damaged, const nsdump::StatsReport &truth)
{
    const auto report = analyse(damaged);
    if (!report)
        return; // refused
    const auto right = unmarked(truth), got = unmarked(*report);
    if (report->incomplete.empty()) {
        REQUIRE(got == right);
    } else {
        REQUIRE(report->has_findings());
        for (const auto &[name, figures] : got) {
            INFO(name);
            REQUIRE(right.contains(name));
            REQUIRE(figures == right.at(name));
        }
    }
}

struct Piece {
    size_t at, bytes;
};

std::vector<Piece> chunks_of(const std::string &trace)
{
    std::vector<Piece> chunks;
    for (size_t at = 64; at < trace.size();) {
        nslice_chunk_header header;
        std::memcpy(&header, trace.data() + at, sizeof header);
        chunks.push_back({at, sizeof header + header.payload_bytes});
        at += chunks.back().bytes;
    }
    return chunks;
}

void require_whole(const nsdump::StatsReport &report)
{
    for (const std::string &reason : report.incomplete)
        UNSCOPED_INFO(reason);
    REQUIRE_FALSE(report.has_findings());
    REQUIRE(report.slices.size() == 3);
}
} // namespace

TEST_CASE("with a byte changed, every figure is equal, marked or withheld", "[format][damage]")
{
    for (const bool tells_chunks : {true, false}) {
        const std::string whole = small_trace(tells_chunks);
        const auto truth = analyse(whole);
        require_whole(*truth);
        for (size_t place = 0; place < whole.size(); ++place) {
            std::string bytes = whole;
            bytes[place] = char(bytes[place] ^ (1 << place % 8));
            INFO("byte " << place << " of " << whole.size());
            check_against_truth(bytes, *truth);
        }
    }
}

TEST_CASE("without one or two chunks, every figure is equal, marked or withheld",
          "[format][damage]")
{
    const std::string whole = small_trace(true);
    const auto truth = analyse(whole);
    const auto chunks = chunks_of(whole);
    for (size_t i = 0; i < chunks.size(); ++i) {
        std::string one = whole;
        one.erase(chunks[i].at, chunks[i].bytes);
        INFO("chunk " << i << " of " << chunks.size());
        check_against_truth(one, *truth);
        CHECK(analyse(one)->has_findings()); // no chunk may go missing without a finding
        for (size_t j = 0; j < i; ++j) {
            std::string two = one;
            two.erase(chunks[j].at, chunks[j].bytes);
            INFO("and chunk " << j);
            check_against_truth(two, *truth);
        }
    }
}

TEST_CASE("with chunks duplicated or exchanged, every figure is equal, marked or withheld",
          "[format][damage]")
{
    const std::string whole = small_trace(true);
    const auto truth = analyse(whole);
    const auto chunks = chunks_of(whole);
    for (size_t i = 0; i < chunks.size(); ++i) {
        INFO("chunk " << i << " of " << chunks.size());
        const std::string own = whole.substr(chunks[i].at, chunks[i].bytes);
        check_against_truth(std::string(whole).insert(chunks[i].at, own), *truth);
        if (i + 1 == chunks.size())
            break;
        std::string exchanged = whole;
        exchanged.erase(chunks[i].at, chunks[i].bytes);
        exchanged.insert(chunks[i].at + chunks[i + 1].bytes, own);
        check_against_truth(exchanged, *truth);
    }
}

TEST_CASE("truncated anywhere, every figure is equal, marked or withheld", "[format][damage]")
{
    const std::string whole = small_trace(true);
    const auto truth = analyse(whole);
    for (size_t length = 0; length < whole.size(); ++length) {
        INFO("cut at " << length);
        check_against_truth(whole.substr(0, length), *truth);
    }
}
