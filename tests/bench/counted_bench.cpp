// SPDX-License-Identifier: MIT
// The cost of a record with two counters relative to bare reads of the clock and both counters: in
// ticks on x86-64, in instructions on arm64 (the guests count these exactly, but have no real
// time).
#include <nsprobe/probe.h>

#include "cases/user_counter.hpp"
#include "figure.hpp"
#include "machine.hpp"

namespace
{
using calibrate::UserCounter;

// linux/perf_event.h, struct perf_event_mmap_page: the minimum for a correct value, without support
// for multiplexing.
inline uint64_t read_self(const volatile perf_event_mmap_page *page)
{
    uint32_t sequence;
    uint64_t value;
    do {
        sequence = page->lock;
        __asm__ volatile("" ::: "memory");
        const uint32_t index = page->index;
        value = uint64_t(page->offset);
        if (page->cap_user_rdpmc && index) {
            const unsigned spare = 64u - page->pmc_width;
            value += uint64_t(int64_t(bench::read_register(index - 1) << spare) >> spare);
        }
        __asm__ volatile("" ::: "memory");
    } while (page->lock != sequence);
    return value;
}

inline void keep(uint64_t value)
{
    __asm__ volatile("" : : "r"(value));
}

struct Subjects {
    UserCounter instructions{PERF_COUNT_HW_INSTRUCTIONS, bench::kUserReadConfig1};
    UserCounter cycles{PERF_COUNT_HW_CPU_CYCLES, bench::kUserReadConfig1};

    __attribute__((noinline)) void nothing(int rounds) const
    {
        for (int i = 0; i < rounds; ++i)
            __asm__ volatile("" ::: "memory");
    }
    __attribute__((noinline)) void record(int rounds) const
    {
        for (int i = 0; i < rounds; ++i)
            NET_SLICE_START(bench);
    }
    // Clock, then both counters by the kernel's protocol.
    __attribute__((noinline)) void protocol(int rounds) const
    {
        const volatile perf_event_mmap_page *const first = instructions.page(), *const second =
                                                                                    cycles.page();
        for (int i = 0; i < rounds; ++i) {
            keep(bench::bare_clock());
            keep(read_self(first));
            keep(read_self(second));
        }
    }
    // Clock, then both registers, without checking who owns them.
    __attribute__((noinline)) void registers(int rounds) const
    {
        const uint32_t first = instructions.number(), second = cycles.number();
        for (int i = 0; i < rounds; ++i) {
            keep(bench::bare_clock());
            keep(bench::read_register(first));
            keep(bench::read_register(second));
        }
    }
};
using Subject = void (Subjects::*)(int) const;

// Uses the difference of two lengths, so that calls and reads of the counter cancel.
double instructions_of(const Subjects &subjects, Subject subject)
{
    const auto count = [&](Subject what, int rounds) {
        const uint64_t begin = subjects.instructions.value();
        (subjects.*what)(rounds);
        return double(subjects.instructions.value() - begin);
    };
    constexpr int kShort = 1000, kLong = 3000;
    for (const int rounds : {kShort, kLong})
        count(subject, rounds);
    const auto slope = [&](Subject what) {
        return (count(what, kLong) - count(what, kShort)) / (kLong - kShort);
    };
    return slope(subject) - slope(&Subjects::nothing);
}

nlohmann::json in_instructions(const Subjects &subjects)
{
    return {{"record_instructions", instructions_of(subjects, &Subjects::record)},
            {"clock_and_two_protocol_reads_instructions",
             instructions_of(subjects, &Subjects::protocol)},
            {"clock_and_two_register_reads_instructions", bench::kRegisterReadInstructions}};
}

#if defined(__x86_64__)
double ticks_of(const Subjects &subjects, Subject subject)
{
    constexpr int kRounds = 10000;
    const uint64_t begin = bench::fenced_ticks();
    (subjects.*subject)(kRounds);
    return double(bench::fenced_ticks() - begin) / kRounds;
}

void print_ratio(const Subjects &subjects, nlohmann::json raw)
{
    std::vector<double> record, bare, protocol;
    for (int i = 0; i < 501; ++i) {
        bare.push_back(ticks_of(subjects, &Subjects::registers));
        record.push_back(ticks_of(subjects, &Subjects::record));
        protocol.push_back(ticks_of(subjects, &Subjects::protocol));
    }
    raw["record_ticks"] = bench::median(record);
    raw["clock_and_two_register_reads_ticks"] = bench::median(bare);
    raw["clock_and_two_protocol_reads_ticks"] = bench::median(protocol);
    bench::print({"record_2_counters_ratio", bench::median(record) / bench::median(bare),
                  "ratio to rdtsc and two rdpmc", raw,
                  "START with instructions and cycles, batches of 10,000, medians, in ticks"},
                 "at most", 1.3);
}
#else
void print_ratio(const Subjects &, const nlohmann::json &raw)
{
    const double protocol = raw["clock_and_two_protocol_reads_instructions"];
    bench::print({"record_2_counters_ratio", raw["record_instructions"].get<double>() / protocol,
                  "ratio to the clock and two counters", raw,
                  "START with instructions and cycles, in instructions; bare: each counter by the "
                  "kernel's protocol, inlined"},
                 "at most", 1.3);
}
#endif
} // namespace

int main()
{
    bench::pin_to_last_cpu();
    const bench::TmpfsFile file("netslice-counted-bench.nsl");
    const Subjects subjects;
    for (const UserCounter *counter : {&subjects.instructions, &subjects.cycles})
        if (!counter->lacks().empty()) {
            std::fprintf(stderr, "%s\n", counter->lacks().c_str());
            return 77;
        }
    bench::open_session("output=" + file.path() +
                        " ring=32M counters=instructions,cycles source=rdpmc");
    print_ratio(subjects, in_instructions(subjects));
    nsp_session_counts counts;
    nsp_session_close(&counts);
    if (counts.drained != counts.issued)
        std::fprintf(stderr, "%llu of %llu records lost because a ring was full\n",
                     static_cast<unsigned long long>(counts.issued - counts.drained),
                     static_cast<unsigned long long>(counts.issued));
    return counts.drained != counts.issued;
}
