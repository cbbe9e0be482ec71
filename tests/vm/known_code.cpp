// SPDX-License-Identifier: MIT
// known_code SOURCE CLOCK [LONGEST | migration | retries | mark-retries | crowded | thin]: runs
// code of 10, 100, ... LONGEST instructions under a session, or only the case that migrates to
// another CPU, those with retried records, the one with contention for the CPU, or the one whose
// probes are off at random.  Prints the true and the
// corrected counts of each slice.  Exits with 1 if a count is wrong, with 2 if it could not run.
#include "cli/verify/known_code.hpp"

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <thread>

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <nsprobe/session.h>

#include "analyse/analyse.hpp"

namespace
{
constexpr unsigned kRepeats = 3;
int longest = 1000000;
bool is_stepped = false;
using Truth = std::map<std::string, double>; // by slice name: its own instructions and those of the
                                             // slices inside it

// Each is a separate function whose slices contain only probes and known code, so that no compiler
// moves other work there.
#define DEFINE_NESTED(n)                                                                       \
    __attribute__((noinline)) void run_nested_##n()                                            \
    {                                                                                          \
        static_assert((n) >= KNOWN_LEAST && (n) % 2 == 0);                                     \
        AROUND(depth0_##n,                                                                     \
               AROUND(depth1_##n,                                                              \
                      AROUND(depth2_##n,                                                       \
                             AROUND(depth3_##n,                                                \
                                    AROUND(depth4_##n,                                         \
                                           AROUND(depth5_##n,                                  \
                                                  AROUND(depth6_##n,                           \
                                                         AROUND(depth7_##n,                    \
                                                                AROUND(depth8_##n,             \
                                                                       KNOWN_CODE(n)))))))))); \
    }
DEFINE_NESTED(10)
DEFINE_NESTED(100)
DEFINE_NESTED(1000)
DEFINE_NESTED(10000)
DEFINE_NESTED(100000)
DEFINE_NESTED(1000000)

#define EMPTY_PAIR          \
    NET_SLICE_START(empty); \
    NET_SLICE_STOP(empty)

__attribute__((noinline)) void run_pairs_0_to_10()
{
    AROUND(pairs0, KNOWN_CODE(100));
    AROUND(pairs1, EMPTY_PAIR; KNOWN_CODE(100));
    AROUND(pairs10, KNOWN_CODE(40); TEN_TIMES(EMPTY_PAIR); KNOWN_CODE(60));
}

__attribute__((noinline)) void run_pairs_100()
{
    AROUND(pairs100, KNOWN_CODE(40); HUNDRED_TIMES(EMPTY_PAIR); KNOWN_CODE(60));
}

__attribute__((noinline)) void run_pairs_1000()
{
    AROUND(pairs1000, KNOWN_CODE(40); THOUSAND_TIMES(EMPTY_PAIR); KNOWN_CODE(60));
}

__attribute__((noinline)) void run_marks()
{
    NSP_DETAIL_WORDS(one, two, three);
    AROUND(marks, TEN_TIMES(NET_SLICE_MARK(mark, one)));
    AROUND(units, TEN_TIMES(NET_SLICE_INIT(unit, one, two, three); NET_SLICE_EXIT(unit)));
}

__attribute__((noinline)) void run_calls()
{
    const uint64_t zero = in_register(0);
    AROUND(calls, TEN_TIMES(KNOWN_SYSTEM_CALL(SYS_getppid, zero, zero, zero)));
}

__attribute__((noinline)) void run_migration(const cpu_set_t *first, const cpu_set_t *second)
{
    const uint64_t self = in_register(0), bytes = in_register(sizeof(*first)),
                   to = in_register(second);
    sched_setaffinity(0, sizeof(*first), first);
    AROUND(migrates, KNOWN_CODE(100); KNOWN_SYSTEM_CALL(SYS_sched_setaffinity, self, bytes, to);
           KNOWN_CODE(100));
}

// One return from the handler, two instructions of the C library or kernel that return from the
// signal.
constexpr double kHandlerOwn = 3;

__attribute__((noinline)) void on_signal(int)
{
    AROUND(in_handler, KNOWN_CODE(24));
}

__attribute__((noinline)) void run_signal(pid_t process_id, pid_t thread_id)
{
    const uint64_t process = in_register(process_id), thread = in_register(thread_id),
                   number = in_register(SIGUSR1);
    AROUND(interrupted, KNOWN_CODE(100); KNOWN_SYSTEM_CALL(SYS_tgkill, process, thread, number);
           KNOWN_CODE(100));
}

// As left by an early return, an exception or longjmp(): executed, but without a partner.
__attribute__((noinline)) void run_lone()
{
    AROUND(lone_start1, KNOWN_CODE(100); NET_SLICE_START(never_stopped); KNOWN_CODE(414));
    AROUND(lone_start4, KNOWN_CODE(100); NET_SLICE_START(never_stopped);
           NET_SLICE_START(never_stopped); NET_SLICE_START(never_stopped);
           NET_SLICE_START(never_stopped); KNOWN_CODE(414));
    AROUND(lone_stop1, KNOWN_CODE(100); NET_SLICE_STOP(never_started); KNOWN_CODE(414));
    AROUND(lone_stop4, KNOWN_CODE(100); NET_SLICE_STOP(never_started);
           NET_SLICE_STOP(never_started); NET_SLICE_STOP(never_started);
           NET_SLICE_STOP(never_started); KNOWN_CODE(414));
    AROUND(lone_around,
           AROUND(lone_inside, KNOWN_CODE(10); NET_SLICE_START(never_stopped); KNOWN_CODE(10));
           KNOWN_CODE(100); NET_SLICE_STOP(never_started); EMPTY_PAIR; KNOWN_CODE(100));
}

__attribute__((noinline)) void run_named_at_run_time(nsp_slice *outer, nsp_slice *inner)
{
    NET_SLICE_START_AT(outer);
    KNOWN_CODE(10);
    NET_SLICE_START_AT(inner);
    KNOWN_CODE(100);
    NET_SLICE_STOP_AT(inner);
    KNOWN_CODE(10);
    NET_SLICE_STOP_AT(outer);
}

Truth nested()
{
    static constexpr void (*kRuns[])() = {run_nested_10,    run_nested_100,    run_nested_1000,
                                          run_nested_10000, run_nested_100000, run_nested_1000000};
    Truth truth;
    int n = 10;
    for (const auto run : kRuns) {
        if (n > longest)
            break;
        run();
        for (int depth = 0; depth <= 8; ++depth)
            truth["depth" + std::to_string(depth) + "_" + std::to_string(n)] = n;
        n *= 10;
    }
    return truth;
}

Truth pairs()
{
    run_pairs_0_to_10();
    run_pairs_100();
    run_pairs_1000();
    return {{"pairs0", 100},   {"pairs1", 100},    {"pairs10", 100},
            {"pairs100", 100}, {"pairs1000", 100}, {"empty", 0}};
}

Truth marks()
{
    run_marks();
    return {{"marks", 0}, {"units", 0}};
}

Truth lone()
{
    run_lone();
    return {{"lone_start1", 514}, {"lone_start4", 514}, {"lone_stop1", 514}, {"lone_stop4", 514},
            {"lone_around", 220}, {"lone_inside", 20},  {"empty", 0}};
}

Truth named_at_run_time()
{
    static nsp_slice *const outer = NET_SLICE_CREATE("named_outer"), *const inner =
                                                                         NET_SLICE_CREATE(
                                                                             "named_inner");
    run_named_at_run_time(outer, inner);
    return {{"named_outer", 120}, {"named_inner", 100}};
}

Truth calls()
{
    run_calls();
    return {{"calls", 50}};
}

Truth migration()
{
    cpu_set_t first, second, before;
    sched_getaffinity(0, sizeof(before), &before);
    CPU_ZERO(&first);
    CPU_ZERO(&second);
    CPU_SET(0, &first);
    CPU_SET(1, &second);
    run_migration(&first, &second);
    sched_setaffinity(0, sizeof(before), &before);
    return {{"migrates", 205}};
}

Truth signals()
{
    std::signal(SIGUSR1, on_signal);
    run_signal(getpid(), pid_t(syscall(SYS_gettid)));
    Truth truth = {{"in_handler", 24}};
    if (!is_stepped) // a handler runs unstepped until its first probe reads the count, which is
                     // then subtracted completely
        truth["interrupted"] = 205 + 24 + kHandlerOwn;
    return truth;
}

// In an overwriting ring, a record that does not fit frees an eighth of the ring and is retried:
// about six such records.
constexpr char kRetriesOptions[] = " full=overwrite ring=64K"; // the records of one run fit

Truth retries()
{
    run_pairs_1000();
    return {{"pairs1000", 100}, {"empty", 0}};
}

__attribute__((noinline)) void run_marks_1000()
{
    NSP_DETAIL_WORDS(one, two, three);
    AROUND(marks1000, THOUSAND_TIMES(NET_SLICE_MARK(mark, one)));
}

__attribute__((noinline)) void run_units_500()
{
    NSP_DETAIL_WORDS(one, two, three);
    AROUND(units500,
           HUNDRED_TIMES(FIVE_TIMES(NET_SLICE_INIT(unit, one, two, three); NET_SLICE_EXIT(unit))));
}

Truth mark_retries()
{
    run_marks_1000();
    run_units_500();
    return {{"marks1000", 0}, {"units500", 0}};
}

// Long enough that timer ticks preempt hundreds of probes in the middle.
Truth crowded()
{
    for (int i = 0; i < 10; ++i)
        run_pairs_1000();
    return {{"pairs1000", 100}, {"empty", 0}};
}

// Short slices, of which most lie within one epoch, for long enough that there are many epochs.
Truth thin()
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
    while (std::chrono::steady_clock::now() < end) {
        run_nested_10();
        run_nested_1000();
        run_pairs_0_to_10();
        run_marks();
        usleep(200); // the rings' reader runs
    }
    Truth truth = {{"pairs0", 100}, {"pairs1", 100}, {"pairs10", 100},
                   {"empty", 0},    {"marks", 0},    {"units", 0}};
    for (int depth = 0; depth <= 8; ++depth)
        for (const int n : {10, 1000})
            truth["depth" + std::to_string(depth) + "_" + std::to_string(n)] = n;
    return truth;
}

__attribute__((noinline)) void run_first()
{
    AROUND(first_of_thread, KNOWN_CODE(100));
}

Truth threads()
{
    std::thread(run_first).join();
    return {{"first_of_thread", 100}};
}

struct Case {
    Truth (*run)();
    long cpus;             // that it requires
    const char *name = ""; // to run only this case
    const char *options = "";
    bool is_alone = false; // it runs only if selected by name
    bool keeps_all = true; // all records are kept
};

constexpr char kThinOptions[] = " ring=16M thin=0.5";

constexpr Case kCases[] = {
    {nested, 1},
    {pairs, 1},
    {marks, 1},
    {lone, 1},
    {named_at_run_time, 1},
    {calls, 1},
    {signals, 1},
    {threads, 1},
    {migration, 2, "migration", " full=overwrite"}, // no drain thread on the other CPU
    {retries, 1, "retries", kRetriesOptions, true, false},
    {mark_retries, 1, "mark-retries", kRetriesOptions, true, false},
    {crowded, 1, "crowded", " ring=4M", true},
    {thin, 1, "thin", kThinOptions, true}};

const Case *only = nullptr; // the one case to run

const Case *find_case(const std::string &name)
{
    for (const Case &known : kCases)
        if (*known.name && name == known.name)
            return &known;
    return nullptr;
}

Truth run_all()
{
    if (only)
        return only->cpus <= sysconf(_SC_NPROCESSORS_ONLN) ? only->run() : Truth();
    Truth all;
    for (const Case &known : kCases)
        if (!known.is_alone && known.cpus <= sysconf(_SC_NPROCESSORS_ONLN))
            all.merge(known.run());
    return all;
}

// Prints a line for each slice; returns how many are wrong.
unsigned compare(const std::string &trace, const Truth &truth)
{
    const nsdump::StatsReport report = nsdump::analyse_trace(trace);
    const bool keeps_all = !only || only->keeps_all;
    unsigned seen = 0, off = 0;
    for (const nsdump::SliceReport &slice : report.slices)
        for (const nsdump::FieldReport &field : slice.values) {
            const auto known = truth.find(slice.name);
            if (field.field != "instructions" || !field.net || known == truth.end())
                continue;
            const bool is_off = field.net->min != known->second ||
                                field.net->max != known->second ||
                                (keeps_all && field.count < kRepeats);
            std::printf("%s: truth %.0f, net %.2f to %.2f of %llu, raw %.0f%s\n",
                        slice.name.c_str(), known->second, field.net->min, field.net->max,
                        static_cast<unsigned long long>(field.count), field.raw.mean,
                        is_off ? "  OFF" : "");
            off += is_off;
            ++seen;
        }
    if (report.classes.uncounted > 0 || (keeps_all && report.losses.lost_sum() > 0)) {
        std::printf("%llu slices without counts, %llu records lost  OFF\n",
                    static_cast<unsigned long long>(report.classes.uncounted),
                    static_cast<unsigned long long>(report.losses.lost_sum()));
        ++off;
    }
    if (const auto &thinning = report.thinning) {
        std::printf("%llu slices with all probes on, %llu others\n",
                    static_cast<unsigned long long>(thinning->all_on),
                    static_cast<unsigned long long>(thinning->not_all_on));
        off += thinning->all_on == 0 || thinning->not_all_on == 0;
    } else if (only && only->options == kThinOptions) {
        std::printf("no probe was ever off  OFF\n");
        ++off;
    }
    if (seen == truth.size())
        return off;
    std::printf("%u of %zu slices have counts  OFF\n", seen, truth.size());
    return off + 1;
}
} // namespace

int main(int argc, char **argv)
{
    if (argc < 3 || argc > 4) {
        std::fprintf(stderr, "usage: known_code SOURCE CLOCK [LONGEST | migration | retries | "
                             "mark-retries | crowded | thin]\n");
        return 2;
    }
    if (argc == 4) {
        only = find_case(argv[3]);
        longest = only ? longest : std::atoi(argv[3]);
    }
    is_stepped = std::string(argv[1]) == "step";
    const std::string trace = "/tmp/known_code." + std::to_string(getpid()) + ".nsl";
    const std::string options = "output=" + trace + " counters=instructions source=" + argv[1] +
                                " clock=" + argv[2] + (only ? only->options : "");
    // The first session has released its counters before the second requests as many.
    for (const bool is_first : {true, false}) {
        if (nsp_session_configure(options.c_str()) != 0) {
            std::fprintf(stderr, "known_code: %s\n", nsp_last_error());
            return 2;
        }
        if (is_first) {
            AROUND(first_session, KNOWN_CODE(100));
            nsp_session_close(nullptr);
            unlink(trace.c_str());
        }
    }
    Truth truth;
    for (unsigned i = 0; i < kRepeats; ++i)
        truth = run_all();
    nsp_session_close(nullptr);
    if (truth.empty()) {
        std::fprintf(stderr, "known_code: too few CPUs for this case\n");
        return 2;
    }
    const unsigned off = compare(trace, truth);
    unlink(trace.c_str());
    std::printf("%s %s: %u off\n", argv[1], argv[2], off);
    return off > 0;
}
