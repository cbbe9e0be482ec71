// SPDX-License-Identifier: MIT
// verify: the process that runs known slices under a session of its own, and its disturbance.
#include "cli/verify/worker.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <thread>

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cli/verify/known_slices.hpp"
#include "common/command/signals.h"

namespace nsdump::verify
{
namespace
{
using Clock = std::chrono::steady_clock;

constexpr double kSecondsForOthers = 10;   // to open their sessions
constexpr uint64_t kRingBytes = 16u << 20; // all records fit, even if nothing is drained
// Moves without a pause would leave the worker no time in between on some hypervisors.
constexpr std::chrono::microseconds kBetweenMoves(20);

double since(Clock::time_point begin)
{
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

void bind_to(pid_t thread_id, const std::vector<unsigned> &cpus)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const unsigned cpu : cpus)
        CPU_SET(cpu, &set);
    sched_setaffinity(thread_id, sizeof(set), &set);
}

// A thread that disturbs the calling one until the object ends.
class Disturber
{
public:
    explicit Disturber(const Work &work)
    {
        const pid_t victim = gettid();
        if (work.disturbance == Disturbance::kMigration)
            thread_ = std::thread([this, victim, &work] { move(victim, work.cpus); });
        if (work.disturbance == Disturbance::kPreemption)
            thread_ = std::thread([this] {
                while (!is_over_)
                    ;
            });
    }
    ~Disturber()
    {
        is_over_ = true;
        if (thread_.joinable())
            thread_.join();
    }
    Disturber(const Disturber &) = delete;
    Disturber &operator=(const Disturber &) = delete;

private:
    void move(pid_t victim, const std::vector<unsigned> &cpus) const
    {
        for (size_t i = 0; !is_over_; ++i) {
            bind_to(victim, {cpus[i % cpus.size()]});
            std::this_thread::sleep_for(kBetweenMoves);
        }
    }

    std::atomic<bool> is_over_ = false;
    std::thread thread_;
};

// Interrupts of all CPUs since boot; absent if the system does not report them.
std::optional<uint64_t> interrupts()
{
    std::ifstream file("/proc/stat");
    std::string word;
    uint64_t sum = 0;
    while (file >> word)
        if (word == "intr" && file >> sum)
            return sum;
    return std::nullopt;
}

struct Counts {
    rusage thread{}, process{};
    std::optional<uint64_t> interrupts_so_far = interrupts();
    Counts()
    {
        getrusage(RUSAGE_THREAD, &thread);
        getrusage(RUSAGE_SELF, &process);
    }
};

void run_rounds(const Work &work, WorkerReport &report)
{
    const auto begin = Clock::now();
    const Counts before;
    {
        const Disturber disturber(work);
        while (report.rounds < work.rounds && since(begin) < work.seconds &&
               !command_was_interrupted()) {
            run_known_slices(work.longest);
            ++report.rounds;
        }
    }
    const Counts after;
    report.preemptions = uint64_t(after.thread.ru_nivcsw - before.thread.ru_nivcsw);
    report.interrupts = after.interrupts_so_far && before.interrupts_so_far
                            ? *after.interrupts_so_far - *before.interrupts_so_far +
                                  uint64_t(after.process.ru_minflt - before.process.ru_minflt) +
                                  uint64_t(after.process.ru_majflt - before.process.ru_majflt)
                            : std::numeric_limits<uint64_t>::max();
}

void wait_for_others(const SharedReports &shared, unsigned workers)
{
    const auto begin = Clock::now();
    while (shared.ready < workers && since(begin) < kSecondsForOthers && !command_was_interrupted())
        command_pause(1);
}
} // namespace

void run_worker(const Work &work, int file, SharedReports &shared, unsigned number)
{
    WorkerReport &report = shared.of[number];
    bind_to(0, work.cpus);
    nsp_session_config config{};
    config.struct_size = sizeof(config);
    config.output = "trace of nsdump counters";
    config.has_file = 1;
    config.file = file;
    config.counters = "instructions";
    config.source = work.source;
    config.ring_bytes = kRingBytes;
    config.memory = NSP_MEMORY_PROCESS;
    config.counter_period = work.counter_period;
    if (nsp_session_open(&config) != 0)
        std::strncpy(report.refusal, nsp_last_error(), sizeof(report.refusal) - 1);
    ++shared.ready;
    if (*report.refusal)
        return;
    wait_for_others(shared, work.workers);
    run_rounds(work, report);
    nsp_session_counts counts{};
    report.is_complete = nsp_session_close(&counts) == 0;
    for (const uint64_t lost : counts.lost)
        report.lost += lost;
}
} // namespace nsdump::verify
