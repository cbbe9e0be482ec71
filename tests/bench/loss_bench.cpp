// SPDX-License-Identifier: MIT
// Records issued, as counted by the writers, compared with drained + lost, as counted by the
// session, under all conditions at once.
#include <atomic>
#include <csignal>
#include <cstdlib>

#include <pthread.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <nsprobe/probe.h>

#include "figure.hpp"
#include "machine.hpp"

namespace
{
constexpr int kThreads = 6;
constexpr int kRounds = 400;

std::atomic<uint64_t> g_issued;

void on_alarm(int)
{
    NET_SLICE_MARK(interrupted, 1);
    g_issued.fetch_add(1, std::memory_order_relaxed);
}

// Overflow (writers do not wait for the drain), migration, and threads that end and are replaced.
void write_records(unsigned seed)
{
    uint64_t mine = 0;
    for (int i = 0; i < 5000; ++i) {
        NET_SLICE_INIT(unit, i, 1, 64);
        NET_SLICE_START(work);
        NET_SLICE_STOP(work);
        NET_SLICE_EXIT(unit);
        mine += 4;
    }
    const unsigned cpus = std::thread::hardware_concurrency();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(rand_r(&seed) % cpus, &one);
    sched_setaffinity(0, sizeof(one), &one);
    for (int i = 0; i < 5000; ++i) {
        NET_SLICE_MARK(value, i);
        ++mine;
    }
    g_issued.fetch_add(mine, std::memory_order_relaxed);
}

// Probes are off in a child: its activity must not be recorded.
void fork_once()
{
    const pid_t child = fork();
    if (child == 0) {
        for (int i = 0; i < 1000; ++i)
            NET_SLICE_MARK(in_child, i);
        _exit(0);
    }
    if (child > 0)
        waitpid(child, nullptr, 0);
}

void set_alarm(long microseconds)
{
    const itimerval timer = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &timer, nullptr);
}

struct Outcome {
    uint64_t issued_by_writers, issued, drained, lost;
    uint64_t off() const
    {
        const auto distance = [](uint64_t a, uint64_t b) { return a > b ? a - b : b - a; };
        return distance(issued_by_writers, issued) + distance(issued, drained + lost);
    }
};

Outcome run(const std::string &options)
{
    const bench::TmpfsFile file("netslice-loss-bench.nsl");
    g_issued = 0;
    bench::open_session("output=" + file.path() + " " + options);
    set_alarm(200);
    for (int round = 0; round < kRounds / kThreads; ++round) {
        std::vector<std::thread> threads;
        for (int i = 0; i < kThreads; ++i)
            threads.emplace_back(write_records, unsigned(round * kThreads + i));
        fork_once();
        for (std::thread &thread : threads)
            thread.join();
    }
    set_alarm(0);
    nsp_session_counts counts;
    nsp_session_close(&counts);
    Outcome outcome = {g_issued, counts.issued, counts.drained, 0};
    for (const uint64_t lost : counts.lost)
        outcome.lost += lost;
    return outcome;
}
} // namespace

int main()
{
    struct sigaction action = {};
    action.sa_handler = on_alarm;
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, nullptr);
    nlohmann::json raw;
    uint64_t off = 0;
    for (const char *options :
         {"ring=64K kind=rseq", "ring=4M kind=rseq", "ring=64K kind=rseq full=overwrite",
          "ring=64K kind=atomic", "ring=64K kind=atomic full=overwrite"}) {
        const Outcome outcome = run(options);
        raw[options] = {{"issued_by_writers", outcome.issued_by_writers},
                        {"issued", outcome.issued},
                        {"drained", outcome.drained},
                        {"lost", outcome.lost}};
        off += outcome.off();
    }
    bench::print({"loss_equation_off_records", double(off), "records", raw,
                  "overflow, signal handlers with probes, fork, thread exit, forced migration; "
                  "both policies, both ring kinds"},
                 "equal", 0);
    return 0;
}
