// SPDX-License-Identifier: MIT
// make_hostile KIND FILE: a valid trace of about 6 MB that is made to slow its reader down;
// without arguments: lists the kinds.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "support/trace_builder.hpp"

using test_support::TraceBuilder;

namespace
{
#ifdef __SANITIZE_ADDRESS__ // programs take several times as long, and need less to go wrong
constexpr size_t kBytes = 1'500'000;
constexpr uint32_t kCpus = 2048;
#else
constexpr size_t kBytes = 6'000'000;
constexpr uint32_t kCpus = 8192; // as many as a reader accepts
#endif
constexpr size_t kSmallChunk = 1 << 12;
constexpr uint32_t kThreads = 60000; // a few less than a reader keeps
constexpr unsigned kNames = 60000;

void pair(TraceBuilder &trace, uint32_t cpu, uint32_t thread, uint16_t slice, uint64_t ticks,
          uint64_t length = 20)
{
    trace.start(cpu, thread, slice, ticks);
    trace.stop(cpu, thread, slice, ticks + length);
}

void slice_on_each_cpu(TraceBuilder &trace, bool is_kernel)
{
    const auto slice = is_kernel ? trace.kernel_site("rx") : trace.site("rx");
    for (uint32_t cpu = 0; cpu < kCpus; ++cpu)
        pair(trace, is_kernel ? TraceBuilder::kernel(cpu) : cpu, cpu, slice, 1000 * cpu);
}

// Constants of CPUs that wrote nothing.
void calibrations(TraceBuilder &trace)
{
    slice_on_each_cpu(trace, false);
    for (uint32_t cpu = 2 * kCpus; trace.written_bytes() < kBytes; cpu += 5000) {
        std::vector<nslice_calibration_entry> entries;
        for (uint32_t i = 0; i < 5000; ++i)
            entries.push_back(test_support::entry(NSLICE_KIND_START, 0, 2, 4, 0.5, cpu + i));
        trace.calibration(NSLICE_CALIBRATION_START, 1000, 1000, entries);
    }
}

void kernel_calibrations(TraceBuilder &trace)
{
    slice_on_each_cpu(trace, true);
    for (uint32_t cpu = 2 * kCpus; trace.written_bytes() < kBytes; cpu += 5000) {
        std::vector<nslice_kernel_calibration_entry> entries;
        for (uint32_t i = 0; i < 5000; ++i)
            entries.push_back({cpu + i, NSLICE_KIND_START, 0, 10, 20480, 0, 40960, 0});
        trace.kernel_calibration(entries);
    }
}

// Small chunks of all CPUs, in turn.
void cpus(TraceBuilder &trace)
{
    const auto slice = trace.site("rx");
    for (uint64_t ticks = 1000; trace.written_bytes() < kBytes; ticks += 1000) {
        const auto cpu = uint32_t(ticks / 1000 % kCpus);
        pair(trace, cpu, cpu, slice, ticks);
        trace.cut(cpu);
    }
}

// The clocks of all CPUs interleave event by event, and threads migrate from one to the next.
void clocks(TraceBuilder &trace)
{
    const auto slice = trace.site("rx");
    for (uint64_t event = 0; event < kBytes / 16; ++event) {
        const auto cpu = uint32_t(event % kCpus);
        trace.start(cpu, cpu < kCpus / 2 ? cpu : 1, slice, 1000 + event);
    }
}

// Two CPUs whose events alternate, followed by all others, of which the last one's clock goes back.
void clock_goes_back(TraceBuilder &trace)
{
    const auto slice = trace.site("rx");
    const uint64_t late = uint64_t{1} << 40;
    for (uint32_t cpu = 2; cpu < kCpus; ++cpu)
        trace.start(cpu, cpu, slice, late + cpu);
    trace.start(kCpus - 1, kCpus - 1, slice, 0);
    for (uint64_t event = 0; trace.written_bytes() < kBytes; ++event)
        trace.start(event % 2, 1 + event % 2, slice, 1000 + event);
}

// Losses while all threads have something open, and have been on two CPUs.
void losses(TraceBuilder &trace, bool is_kernel)
{
    const auto slice = trace.site("rx");
    const auto other = is_kernel ? trace.kernel_site("irq") : slice;
    for (uint32_t cpu = 0; cpu < 2; ++cpu)
        for (uint32_t thread = 1; thread <= kThreads; ++thread)
            trace.start(cpu, thread, slice, 1000 + thread + cpu * kThreads);
    const uint32_t lossy = is_kernel ? TraceBuilder::kernel(1) : 1;
    for (uint64_t ticks = 1'000'000; trace.written_bytes() < kBytes; ticks += 10) {
        trace.lose(lossy, NSLICE_LOST_FULL, 1);
        trace.mark(lossy, 1, other, ticks, 1);
    }
}

// Each name has slices as short and as long as possible: as many values as a histogram can hold.
void long_and_short(TraceBuilder &trace)
{
    std::vector<uint16_t> slices;
    for (unsigned i = 0; i < kNames; ++i)
        slices.push_back(trace.site(std::to_string(i), NSLICE_KIND_START, ""));
    for (uint64_t i = 0; trace.written_bytes() < kBytes; ++i)
        pair(trace, 0, 1, slices[i % kNames], 1000 + i, i / kNames % 2 ? 1 : uint64_t{1} << 62);
}

// Each CPU has its own constants, and each name slices on the last one.
void constants(TraceBuilder &trace)
{
    slice_on_each_cpu(trace, false);
    for (uint32_t cpu = 0; cpu < kCpus; cpu += 4096) {
        std::vector<nslice_calibration_entry> entries;
        for (uint32_t i = 0; i < 4096; ++i)
            entries.push_back(test_support::entry(NSLICE_KIND_START, 0, 2, 4, 0.5, cpu + i));
        trace.calibration(NSLICE_CALIBRATION_START, 1000, 1000, entries);
    }
    std::vector<uint16_t> slices;
    for (unsigned i = 0; i < kNames - 1; ++i)
        slices.push_back(trace.site(std::to_string(i), NSLICE_KIND_START, ""));
    for (uint64_t i = 0; trace.written_bytes() < kBytes; ++i)
        pair(trace, kCpus - 1, 1, slices[i % slices.size()], 100'000'000 + 40 * i);
}

void names(TraceBuilder &trace, bool is_in_unit)
{
    const auto unit = trace.site("batch", NSLICE_KIND_INIT);
    std::vector<uint16_t> slices;
    for (unsigned i = 0; i < kNames; ++i)
        slices.push_back(trace.site(std::to_string(i), NSLICE_KIND_START, ""));
    uint64_t ticks = 1000;
    if (is_in_unit)
        trace.init(0, 1, unit, ticks, 1, 64, 4096);
    for (size_t i = 0; trace.written_bytes() < kBytes; ++i)
        pair(trace, 0, 1, slices[i % kNames], ticks += 40, is_in_unit ? 20 : 5000);
}

// Each thread opens one slice and ends.
void threads(TraceBuilder &trace)
{
    const auto slice = trace.site("rx");
    for (uint32_t thread = 1; trace.written_bytes() < kBytes; ++thread)
        trace.start(thread % 2, thread, slice, 1000 + thread);
}

// As deep as possible, then STOPs that search for their START.
void depth(TraceBuilder &trace)
{
    std::vector<uint16_t> slices;
    for (unsigned i = 0; i < 200; ++i)
        slices.push_back(trace.site(std::to_string(i)));
    uint64_t ticks = 1000;
    for (unsigned i = 0; i < 64; ++i)
        trace.start(0, 1, slices[i], ++ticks);
    for (size_t i = 64; trace.written_bytes() < kBytes; ++i)
        trace.stop(0, 1, slices[64 + i % 100], ++ticks);
}

void keys(TraceBuilder &trace)
{
    for (size_t i = 0; trace.written_bytes() < kBytes; ++i)
        trace.info("key" + std::to_string(i) + "=value\n");
}

// Each footer and each totals chunk has as many rows as fit.
void totals(TraceBuilder &trace)
{
    slice_on_each_cpu(trace, false);
    slice_on_each_cpu(trace, true);
    const uint32_t rows = 2700;
    while (trace.written_bytes() < kBytes) {
        nslice_file_footer head{};
        head.cpus = rows;
        std::string payload(reinterpret_cast<const char *>(&head), sizeof head);
        for (uint32_t cpu = 0; cpu < rows; ++cpu) {
            nslice_file_footer_cpu row{};
            row.cpu = 1'000'000 + cpu;
            payload.append(reinterpret_cast<const char *>(&row), sizeof row);
        }
        trace.chunk(NSLICE_CHUNK_FOOTER, payload.data(), payload.size());
        nslice_file_kernel_totals kernel{};
        kernel.cpus = rows;
        payload.replace(0, sizeof head, reinterpret_cast<const char *>(&kernel), sizeof kernel);
        trace.chunk(NSLICE_CHUNK_KERNEL_TOTALS, payload.data(), payload.size());
    }
}

// Valid headers with garbage between them, or inside each other.
std::string damaged(TraceBuilder &trace, uint32_t payload_bytes, size_t apart)
{
    std::string bytes = trace.bytes();
    const size_t at = bytes.size();
    trace.chunk(NSLICE_CHUNK_KINDS, "", 0);
    std::string header = trace.bytes().substr(at, sizeof(nslice_chunk_header));
    std::memcpy(header.data() + offsetof(nslice_chunk_header, payload_bytes), &payload_bytes,
                sizeof payload_bytes);
    test_support::seal_chunk_header(header, 0);
    header.resize(apart, 'x');
    while (bytes.size() < kBytes)
        bytes += header;
    return bytes;
}

struct Kind {
    const char *name;
    void (*make)(TraceBuilder &trace);
    bool has_footer; // a footer cannot hold more CPUs than this
};
constexpr Kind kKinds[] = {
    {"calibrations", calibrations, false},
    {"kernel_calibrations", kernel_calibrations, false},
    {"cpus", cpus, false},
    {"clocks", clocks, false},
    {"clock_goes_back", clock_goes_back, false},
    {"losses", [](TraceBuilder &trace) { losses(trace, false); }, true},
    {"kernel_losses", [](TraceBuilder &trace) { losses(trace, true); }, true},
    {"names", [](TraceBuilder &trace) { names(trace, false); }, true},
    {"names_in_unit", [](TraceBuilder &trace) { names(trace, true); }, true},
    {"long_and_short", long_and_short, true},
    {"constants", constants, false},
    {"threads", threads, true},
    {"depth", depth, true},
    {"keys", keys, true},
    {"totals", totals, false},
};
constexpr struct {
    const char *name;
    uint32_t payload_bytes;
    size_t apart;
} kDamaged[] = {
    {"garbage", 0, sizeof(nslice_chunk_header) + 8},
    {"headers_in_payloads", NSLICE_MAX_PAYLOAD_BYTES - 24, sizeof(nslice_chunk_header)},
};

std::string made(const std::string &name)
{
    TraceBuilder trace;
    trace.set_chunk_bytes(kSmallChunk);
    trace.info(test_support::plain_info());
    for (const auto &kind : kDamaged)
        if (name == kind.name)
            return damaged(trace, kind.payload_bytes, kind.apart);
    for (const Kind &kind : kKinds)
        if (name == kind.name) {
            kind.make(trace);
            if (kind.has_footer)
                trace.footer(NSLICE_END_CLOSED, 1'000'000'000, 1'000'000'000);
            return trace.bytes();
        }
    return {};
}
} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        for (const Kind &kind : kKinds)
            std::puts(kind.name);
        for (const auto &kind : kDamaged)
            std::puts(kind.name);
        return argc == 1 ? 0 : 2;
    }
    const std::string bytes = made(argv[1]);
    std::ofstream file(argv[2], std::ios::binary);
    return !bytes.empty() &&
                   file.write(bytes.data(), static_cast<std::streamsize>(bytes.size())).flush()
               ? 0
               : 1;
}
