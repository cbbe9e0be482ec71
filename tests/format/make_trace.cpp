// SPDX-License-Identifier: MIT
// make_trace: numbers on the command line -> a valid trace of any size, for speed tests and
// demonstrations.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <vector>

#include "common/command/arguments.hpp"
#include "support/trace_builder.hpp"

namespace
{
struct Options {
    std::string out;
    uint64_t records = 1'000'000;
    uint32_t cpus = 2;
    uint32_t idle_cpus = 0;    // further ones with one unit each
    uint32_t threads = 0;      // take turns on each CPU, one unit each; 0: one
    uint32_t sites = 0;        // slice names, distributed over the threads; 0: the standard four
    bool shares_sites = false; // each thread may run any of them
    bool is_wide = false;      // slices of 10 ns to 10 s
    bool is_thinned = false;   // epochs of 1 ms; names have no slices inside
    uint64_t unit_slices = 16; // outer slices per unit
    uint64_t packets = 64;     // per unit
    uint64_t chunk_bytes = NSLICE_MAX_PAYLOAD_BYTES;
    uint64_t migrate_every = 0; // units, 0: never
    uint64_t lose_every = 0;    // units, 0: never
    bool has_kernel = false;    // an interrupt after each unit
    unsigned counters = 0;
    uint64_t seed = 1;
    bool no_calibration = false;
    bool no_footer = false;
};

// A simple generator of its own, so that a seed gives the same trace with every library.
struct Random {
    uint64_t state;
    uint64_t below(uint64_t bound)
    {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (state >> 16) % bound;
    }
};

struct Cpu {
    uint32_t number = 0;
    uint32_t thread = 0;
    uint32_t first_thread = 0;
    uint64_t ticks = 0;
    uint64_t unit = 0;
    std::vector<uint64_t> totals; // of the counters
};

struct Sites {
    uint16_t unit, receive, classify, lookup, send, length, irq;
    std::vector<uint16_t> many;
};

constexpr double kHz = 2'596'000'000.0;
constexpr double kInner = 23;
constexpr double kOuter = 46;
constexpr uint64_t kBeginTicks = 1'000'000'000;
constexpr uint64_t kEpochTicks = 2'596'000; // 1 ms
constexpr size_t kThinnedNames = 128;       // off in every second epoch

void advance(Cpu &cpu, uint64_t ticks)
{
    cpu.ticks += ticks;
    for (uint64_t &total : cpu.totals)
        total += 3 * ticks;
}

bool is_off(const Sites &sites, uint16_t slice, uint64_t ticks)
{
    const std::span many(sites.many.begin(), std::min(sites.many.size(), kThinnedNames));
    return (ticks - kBeginTicks) / kEpochTicks % 2 == 1 &&
           std::find(many.begin(), many.end(), slice) != many.end();
}

void write_epochs(test_support::TraceBuilder &trace, const Sites &sites, uint64_t end_ticks)
{
    const size_t count = std::min(sites.many.size(), kThinnedNames);
    const std::vector<uint16_t> thinned(sites.many.begin(), sites.many.begin() + ptrdiff_t(count));
    bool are_off = false;
    for (uint64_t at = kBeginTicks; at < end_ticks; at += kEpochTicks, are_off = !are_off)
        trace.epoch(at, at + kEpochTicks - 1, are_off ? thinned : std::vector<uint16_t>{});
}

// The part of a slice before the nested one.
uint64_t inside_ticks(const Options &options, Random &random)
{
    if (!options.is_wide)
        return 60 + random.below(64);
    constexpr unsigned kFirstOctave = 4,
                       kOctaves =
                           30; // 2^4 ticks are 6 ns, 2^34 are 6.6 s: as many in each power of two
    const uint64_t octave = uint64_t{1} << (kFirstOctave + random.below(kOctaves + 1));
    return octave + random.below(octave);
}

// One unit: INIT, outer slices, every second with a nested one, a MARK, EXIT. Returns the number of
// records written.
uint64_t write_unit(test_support::TraceBuilder &trace, const Sites &sites, const Options &options,
                    Cpu &cpu, Cpu &other, Random &random)
{
    const bool migrates =
        options.migrate_every > 0 && cpu.unit % options.migrate_every == 1 && options.cpus > 1;
    const uint16_t outer[] = {sites.receive, sites.classify, sites.send};
    const uint64_t sharers =
        options.shares_sites ? 1 : options.cpus * std::max(options.threads, 1u);
    const uint64_t own_sites = std::max<uint64_t>(sites.many.size() / sharers, 1);
    const auto any_or = [&](uint16_t plain) { // one of the thread's own
        return sites.many.empty()
                   ? plain
                   : sites.many[((cpu.thread - 1000) * own_sites + random.below(own_sites)) %
                                sites.many.size()];
    };
    uint64_t records = 3;
    if (options.threads > 1)
        cpu.thread = cpu.first_thread + uint32_t(random.below(options.threads));
    trace.init(cpu.number, cpu.thread, sites.unit, cpu.ticks, cpu.unit, options.packets,
               options.packets * 512);
    for (uint64_t i = 0; i < options.unit_slices; ++i) {
        const uint16_t slice = options.is_thinned ? outer[i % 3] : any_or(outer[i % 3]);
        advance(cpu, 20 + random.below(16));
        trace.start(cpu.number, cpu.thread, slice, cpu.ticks, cpu.totals);
        advance(cpu, inside_ticks(options, random));
        const uint16_t inside = i % 2 == 1 ? any_or(sites.lookup) : 0;
        if (inside != 0 && !(options.is_thinned && is_off(sites, inside, cpu.ticks))) {
            trace.start(cpu.number, cpu.thread, inside, cpu.ticks, cpu.totals);
            advance(cpu, 40 + random.below(32));
            trace.stop(cpu.number, cpu.thread, inside, cpu.ticks, cpu.totals);
            advance(cpu, 20 + random.below(8));
            records += 2;
        }
        if (migrates && i == 0) { // STOP on the other CPU, whose clock must not go back either
            advance(cpu, other.ticks > cpu.ticks ? other.ticks - cpu.ticks : 0);
            other.ticks = cpu.ticks + 1;
        }
        trace.stop(migrates && i == 0 ? other.number : cpu.number, cpu.thread, slice, cpu.ticks,
                   cpu.totals);
        records += 2;
    }
    trace.mark(cpu.number, cpu.thread, sites.length, cpu.ticks, random.below(1500));
    advance(cpu, 24);
    trace.exit(cpu.number, cpu.thread, sites.unit, cpu.ticks);
    if (options.has_kernel) {
        const uint32_t kernel = test_support::TraceBuilder::kernel(cpu.number);
        advance(cpu, 30);
        trace.start(kernel, cpu.thread, sites.irq, cpu.ticks);
        advance(cpu, 200 + random.below(100));
        trace.stop(kernel, cpu.thread, sites.irq, cpu.ticks);
        records += 2;
    }
    advance(cpu, 50 + random.below(512));
    if (options.lose_every > 0 && cpu.unit % options.lose_every == options.lose_every - 1)
        trace.lose(cpu.number, NSLICE_LOST_FULL, 5);
    ++cpu.unit;
    return records;
}

std::vector<Cpu> make_cpus(const Options &options, uint64_t begin_ticks)
{
    std::vector<Cpu> cpus(options.cpus);
    for (uint32_t i = 0; i < options.cpus; ++i) {
        cpus[i].number = i;
        cpus[i].thread = cpus[i].first_thread = 1000 + i * std::max(options.threads, 1u);
        cpus[i].ticks = begin_ticks + 1000 + 7 * i;
        cpus[i].totals.assign(options.counters, 0);
    }
    return cpus;
}

void write_trace(test_support::TraceBuilder &trace, const Options &options)
{
    using namespace test_support;
    std::string counters;
    for (unsigned i = 0; i < options.counters; ++i)
        counters += (i > 0 ? "," : "") +
                    (i == 0 ? std::string("INSTRUCTIONS") : "COUNTER_" + std::to_string(i));
    trace.set_chunk_bytes(options.chunk_bytes);
    trace.info(plain_info(kHz, counters));
    std::vector<nslice_calibration_entry> entries;
    for (unsigned field = 0; field <= options.counters && !options.no_calibration; ++field) {
        entries.push_back(entry(NSLICE_KIND_START, field, kInner, kOuter, 0.1));
        for (const unsigned kind : {NSLICE_KIND_MARK, NSLICE_KIND_INIT, NSLICE_KIND_EXIT})
            entries.push_back(entry(kind, field, 0, 24, 0.1));
    }
    const uint64_t begin_ticks = kBeginTicks;
    trace.calibration(NSLICE_CALIBRATION_START, begin_ticks, 0, entries, 26, 22.5);
    Sites sites{};
    sites.unit = trace.site("batch", NSLICE_KIND_INIT, "app.c", 10);
    sites.receive = trace.site("receive", NSLICE_KIND_START, "app.c", 20);
    sites.classify = trace.site("classify", NSLICE_KIND_START, "app.c", 30);
    sites.lookup = trace.site("lookup", NSLICE_KIND_START, "table.c", 40);
    sites.send = trace.site("send", NSLICE_KIND_START, "app.c", 50);
    sites.length = trace.site("queue_length", NSLICE_KIND_MARK, "app.c", 60);
    if (options.has_kernel) {
        sites.irq = trace.kernel_site("irq", NSLICE_KIND_START, NSLICE_SITE_INTERRUPT);
        trace.kernel_calibration({{0, NSLICE_KIND_START, 0, 1, 20 * 1024, 0, 40 * 1024, 0}});
    }
    for (uint32_t i = 0; i < options.sites; ++i)
        sites.many.push_back(
            trace.site("function_" + std::to_string(i), NSLICE_KIND_START, "many.c", i + 1));
    std::vector<Cpu> cpus = make_cpus(options, begin_ticks);
    Random random{options.seed * 0x9e3779b97f4a7c15u + 1};
    uint64_t written = 0;
    while (written < options.records) { // the CPU that is behind is next, so that records
                                        // interleave as in reality
        Cpu *next = &cpus.front();
        for (Cpu &cpu : cpus)
            if (cpu.ticks < next->ticks)
                next = &cpu;
        written += write_unit(trace, sites, options, *next, cpus[(next->number + 1) % cpus.size()],
                              random);
    }
    for (uint32_t i = 0; i < options.idle_cpus; ++i) {
        Cpu idle = cpus.front();
        idle.number = options.cpus + i;
        idle.thread = idle.first_thread = 1000 + idle.number * std::max(options.threads, 1u);
        write_unit(trace, sites, options, idle, cpus.front(), random);
    }
    uint64_t end_ticks = begin_ticks;
    for (const Cpu &cpu : cpus)
        end_ticks = std::max(end_ticks, cpu.ticks);
    trace.cut_all();
    if (options.is_thinned)
        write_epochs(trace, sites, end_ticks);
    if (options.no_footer)
        return;
    const auto end_ns = uint64_t(double(end_ticks - begin_ticks) * 1e9 / kHz);
    trace.calibration(NSLICE_CALIBRATION_END, end_ticks, end_ns, entries, 26, 22.5);
    trace.footer(NSLICE_END_CLOSED, end_ticks, end_ns);
}
} // namespace

int main(int argc, char **argv)
{
    Options options;
    command::Arguments arguments(
        "Writes a valid trace of any size: units with slices nested one or two deep.",
        "make_trace");
    arguments.add("out", options.out, "trace to write").required();
    arguments.add("--records", options.records,
                  "minimum number of records; only whole units are written");
    arguments.add("--cpus", options.cpus, "CPUs, by default with one thread each").range(1, 4096);
    arguments.add("--idle-cpus", options.idle_cpus, "CPUs behind these with one unit each")
        .range(0, 4096);
    arguments.add("--threads", options.threads, "threads on each CPU, taking turns after each unit")
        .range(0, 60000);
    arguments.add("--sites", options.sites, "number of slice names, distributed over the threads")
        .range(0, 60000);
    arguments.add_flag("--share-sites", options.shares_sites,
                       "each thread may run slices of all names");
    arguments.add_flag("--wide", options.is_wide,
                       "outer slices of 10 ns to 10 s, as many in each power of two");
    arguments.add_flag(
        "--thinned", options.is_thinned,
        "epochs of 1 ms with some of --sites off, which are then only inside others");
    arguments.add("--unit-slices", options.unit_slices, "outer slices in a unit");
    arguments.add("--packets", options.packets, "packets in a unit");
    arguments.add("--chunk-bytes", options.chunk_bytes, "payload of a chunk")
        .range(uint64_t{128}, uint64_t{NSLICE_MAX_PAYLOAD_BYTES});
    arguments.add("--counters", options.counters, "counters in START and STOP").range(0, 6);
    arguments.add("--migrate-every", options.migrate_every, "units per migrated slice");
    arguments.add("--lose-every", options.lose_every, "units between losses");
    arguments.add_flag("--kernel", options.has_kernel,
                       "an interrupt after each unit, in the kernel's rings");
    arguments.add("--seed", options.seed, "seed of the random numbers");
    arguments.add_flag("--no-calibration", options.no_calibration, "omit the cost of the probes");
    arguments.add_flag("--no-footer", options.no_footer, "omit the footer, as after a crash");
    if (const auto reply = arguments.parse(argc, argv)) {
        std::fputs(reply->text.c_str(), reply->is_wrong ? stderr : stdout);
        return reply->is_wrong ? 2 : 0;
    }

    std::FILE *file = std::fopen(options.out.c_str(), "wb");
    if (!file) {
        std::perror(options.out.c_str());
        return 1;
    }
    test_support::TraceBuilder trace(
        [file](const void *data, size_t bytes) { std::fwrite(data, 1, bytes, file); });
    write_trace(trace, options);
    const bool is_bad = std::ferror(file) != 0;
    if (std::fclose(file) != 0 || is_bad) {
        std::perror(options.out.c_str());
        return 1;
    }
    return 0;
}
