// SPDX-License-Identifier: MIT
// The cost of the two most frequent calls: mapi_read_results() of a counter, mapi_get_next_pkt() of
// an available packet.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include <mapi/mapi.h>
#include <nsprobe/probe.h>

#include "analyse/analyse.hpp"
#include "figure.hpp"
#include "machine.hpp"

namespace
{
constexpr int kFlows = 60;         // whose packets are taken to measure the time
constexpr int kCountedCalls = 100; // single-stepped
// Before each measured call, so that the thread's clock is in the state of a program's millionth
// call; more each time, so that the calls do not fall into step with the clock's checks.
constexpr int kWarmReads = 100000, kMoreWarmReads = 1000;

struct Capture {
    char *device;
    int flow, counter, buffer;
    uint64_t packets;
};

// All packets are in the buffer, and no other thread runs.
Capture capture(const char *path)
{
    Capture c = {mapi_create_offline_device(path, MFF_PCAP), 0, 0, 0, 0};
    c.flow = c.device ? mapi_create_flow(c.device) : -1;
    c.counter = mapi_apply_function(c.flow, "PKT_COUNTER");
    c.buffer = mapi_apply_function(c.flow, "TO_BUFFER", NOWAIT);
    if (c.buffer < 0 || mapi_connect(c.flow) < 0 || mapi_start_offline_device(c.device) < 0 ||
        mapi_wait_flow(c.flow, -1) < 0) {
        char why[MAPI_ERROR_TEXT_BYTES];
        mapi_read_error(nullptr, why);
        std::fprintf(stderr, "calls_bench: %s: %s\n", path, why);
        std::exit(1);
    }
    c.packets = *static_cast<const uint64_t *>(mapi_read_results(c.flow, c.counter)->res);
    return c;
}

void close(const Capture &c)
{
    mapi_close_flow(c.flow);
    mapi_delete_offline_device(c.device);
}

double thread_ns()
{
    timespec now = {};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return double(now.tv_sec) * 1e9 + double(now.tv_nsec);
}

void time_packets(const char *path)
{
    std::vector<double> ns;
    uint64_t packets = 0;
    for (int i = 0; i < kFlows; ++i) {
        const Capture c = capture(path);
        const double begin = thread_ns();
        uint64_t taken = 0;
        while (mapi_get_next_pkt(c.flow, c.buffer))
            ++taken;
        ns.push_back((thread_ns() - begin) / double(taken));
        if (taken != c.packets) {
            std::fprintf(stderr, "calls_bench: of %lu packets, %lu were in the buffer\n", c.packets,
                         taken);
            std::exit(1);
        }
        packets += taken;
        close(c);
    }
    bench::print(
        {"mapi_get_next_pkt_ns",
         bench::median(ns),
         "ns",
         {{"packets", packets}, {"flows", kFlows}},
         "CPU time of the reading thread; the packets are in the buffer, in the same process"},
        "at most", 20);
}

// Net cost of the shortest call: a read checks the kernel's clock about once per millisecond, and a
// stepped one is slow enough to do so often.
void print_count(const nsdump::StatsReport &report, const std::string &slice,
                 const std::string &figure, double bar)
{
    for (const nsdump::SliceReport &one : report.slices) {
        if (one.name != slice)
            continue;
        for (const nsdump::FieldReport &field : one.values) {
            if (field.field == "instructions" && field.net)
                return bench::print(
                    {figure,
                     field.net->min,
                     "instructions",
                     {{"calls", field.count}, {"most", field.net->max}, {"raw", field.raw.min}},
                     "shortest of the single-stepped calls; about once per millisecond, a read "
                     "checks the kernel's clock, as the longest did"},
                    "at most", bar);
        }
    }
    bench::print_skipped(figure, "no instruction counts available here");
}

void count_instructions(const char *path)
{
    const bench::TmpfsFile file("netslice-calls-bench.nsl");
    const Capture c = capture(path);
    bench::open_session("output=" + file.path() + " counters=instructions source=step");
    for (int i = 0; i < kCountedCalls; ++i) {
        for (int j = 0; j < kWarmReads + i * kMoreWarmReads; ++j)
            mapi_read_results(c.flow, c.counter);
        NET_SLICE_START(read_results);
        mapi_read_results(c.flow, c.counter);
        NET_SLICE_STOP(read_results);
        mapi_get_next_pkt(c.flow, c.buffer);
        NET_SLICE_START(get_next_pkt);
        mapi_get_next_pkt(c.flow, c.buffer);
        NET_SLICE_STOP(get_next_pkt);
    }
    nsp_session_close(nullptr);
    close(c);
    const nsdump::StatsReport report = nsdump::analyse_trace(file.path());
    print_count(report, "read_results", "mapi_read_results_instructions", 60);
    print_count(report, "get_next_pkt", "mapi_get_next_pkt_instructions", 80);
}
} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::fprintf(stderr, "usage: calls_bench CAPTURE\n");
        return 2;
    }
    setenv("MAPI_SOCKET", "none", 0);
    time_packets(argv[1]);
    count_instructions(argv[1]);
    return 0;
}
