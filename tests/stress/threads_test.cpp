// SPDX-License-Identifier: MIT
// Threads that are moved from CPU to CPU, are short-lived, or are cancelled.
#include "work.hpp"

#include <bit>

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

using namespace stress;

namespace
{
std::vector<int> allowed_cpus()
{
    cpu_set_t set;
    std::vector<int> cpus;
    sched_getaffinity(0, sizeof set, &set);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
        if (CPU_ISSET(cpu, &set))
            cpus.push_back(cpu);
    return cpus;
}

void move_to(pid_t thread, int cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    sched_setaffinity(thread, sizeof one, &one);
}
} // namespace

TEST_CASE("threads moved from CPU to CPU have no uncounted losses", "[stress][migration]")
{
    constexpr unsigned kMovesLeast = 30;
    const auto cpus = allowed_cpus();
    if (cpus.size() < 2)
        return test_support::skip("only one CPU");
    for (const auto &kind : kinds())
        for (const char *full : {" ring=1M", " full=overwrite ring=8K"}) {
            INFO(kind << full);
            test_support::ProbeSession session("calibration=no " + kind + full);
            std::atomic<pid_t> ids[3] = {};
            std::atomic<int> working{3};
            std::atomic<unsigned> moves{0};
            std::atomic<uint64_t> used{0}; // CPUs on which units were written
            std::thread driver([&] {
                for (unsigned i = 0; working > 0; ++i) {
                    if (const pid_t id = ids[i % 3]) {
                        move_to(id, cpus[i / 3 % cpus.size()]);
                        ++moves;
                    }
                }
            });
            const auto issued = run_threads(3, [&](unsigned i) {
                ids[i] = gettid();
                auto own = write_units(100000);
                // The moving thread may not have run yet, or the moved ones not on both CPUs.
                while (moves < kMovesLeast || std::popcount(used.load()) < 2) {
                    const int cpu = sched_getcpu();
                    own += write_units(1000);
                    if (sched_getcpu() == cpu)
                        used |= uint64_t(1) << (cpu % 64);
                }
                --working;
                return own;
            });
            driver.join();
            const auto result = session.close();
            require_accounted(result, issued);
            REQUIRE(is_whole(result.trace));
            CHECK(result.trace.cpus.size() >= 2);
        }
}

TEST_CASE("thousands of short-lived threads lose nothing", "[stress][threads]")
{
    for (const auto &kind : kinds()) {
        test_support::ProbeSession session("calibration=no ring=16M " + kind);
        uint64_t issued = 0;
        for (int round = 0; round < 250; ++round)
            issued += run_threads(8, [](unsigned) { return write_units(20); });
        const auto result = session.close();
        require_accounted(result, issued);
        CHECK(result.counts.drained == issued);
        REQUIRE(is_whole(result.trace));
    }
}

namespace
{
thread_local uint64_t written_at_exit;
std::atomic<uint64_t> issued_by_cancelled;

struct AtExit {
    // Runs while the thread's storage is being destroyed: probes must still work.
    ~AtExit()
    {
        write_unit(1);
        issued_by_cancelled += written_at_exit + kUnitRecords;
    }
};

void *until_cancelled(void *)
{
    static thread_local AtExit at_exit;
    (void)&at_exit;
    for (uint64_t i = 0;; ++i) {
        write_unit(i);
        written_at_exit += kUnitRecords;
        pthread_testcancel();
    }
}
} // namespace

TEST_CASE("cancelled threads and probes in their last destructors are all accounted for",
          "[stress][threads]")
{
    for (const auto &kind : kinds()) {
        issued_by_cancelled = 0;
        test_support::ProbeSession session("calibration=no ring=8M " + kind);
        for (int round = 0; round < 15; ++round) {
            pthread_t threads[4];
            for (auto &thread : threads)
                pthread_create(&thread, nullptr, until_cancelled, nullptr);
            usleep(500);
            for (auto &thread : threads)
                pthread_cancel(thread);
            for (auto &thread : threads)
                pthread_join(thread, nullptr);
        }
        const auto result = session.close();
        require_accounted(result, issued_by_cancelled);
        REQUIRE(is_whole(result.trace));
    }
}
