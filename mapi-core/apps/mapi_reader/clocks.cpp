// SPDX-License-Identifier: MIT
// clocks: clock_gettime(), the time stamp counter, perf_event_open().
#include "mapi_reader/clocks.hpp"

#include <cerrno>
#include <cstring>
#include <ctime>
#ifdef __x86_64__
#include <x86intrin.h>
#endif

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mapi_reader
{
namespace
{
constexpr uint64_t kNsPerS = 1000000000, kCalibrationNs = 50000000;

uint64_t now_ns(clockid_t clock)
{
    timespec now = {};
    clock_gettime(clock, &now);
    return uint64_t(now.tv_sec) * kNsPerS + uint64_t(now.tv_nsec);
}

int open_counter(long cpu)
{
    perf_event_attr event = {};
    event.type = PERF_TYPE_HARDWARE;
    event.size = sizeof(event);
    event.config = PERF_COUNT_HW_INSTRUCTIONS;
    event.pinned = 1; // no scaled values
    return int(syscall(SYS_perf_event_open, &event, -1, int(cpu), -1, PERF_FLAG_FD_CLOEXEC));
}
} // namespace

uint64_t process_ns()
{
    return now_ns(CLOCK_PROCESS_CPUTIME_ID);
}

double ticks_per_s()
{
#ifdef __x86_64__
    const uint64_t begin_ns = now_ns(CLOCK_MONOTONIC), begin = __rdtsc();
    uint64_t end_ns = begin_ns;
    while (end_ns - begin_ns < kCalibrationNs)
        end_ns = now_ns(CLOCK_MONOTONIC);
    return double(__rdtsc() - begin) * double(kNsPerS) / double(end_ns - begin_ns);
#else
    return 0;
#endif
}

Instructions::Instructions()
{
    for (long cpu = 0; cpu < sysconf(_SC_NPROCESSORS_ONLN) && why_not_.empty(); ++cpu) {
        const int counter = open_counter(cpu);
        if (counter >= 0)
            counters_.push_back(counter);
        else if (errno == ENOENT || errno == EOPNOTSUPP)
            why_not_ = "no PMU";
        else
            why_not_ = std::strerror(errno);
    }
}

Instructions::~Instructions()
{
    for (const int counter : counters_)
        close(counter);
}

std::optional<uint64_t> Instructions::read() const
{
    uint64_t sum = 0;
    for (const int counter : counters_) {
        uint64_t value = 0;
        if (::read(counter, &value, sizeof(value)) != ssize_t(sizeof(value)))
            return {}; // another counter took the register
        sum += value;
    }
    return why_not_.empty() ? std::optional(sum) : std::nullopt;
}
} // namespace mapi_reader
