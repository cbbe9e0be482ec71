// SPDX-License-Identifier: MIT
// perf read(): one system call for one counter of the calling thread.
#include "rounds.hpp"

#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace
{
int open_counter(uint32_t type, uint64_t config)
{
    perf_event_attr attr{};
    attr.size = sizeof(attr);
    attr.type = type;
    attr.config = config;
    attr.exclude_kernel = 1; // allowed for unprivileged users
    attr.exclude_hv = 1;
    return int(syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC));
}
} // namespace

int main(int argc, char **argv)
{
    const rival::Plan plan = rival::plan_of(argc, argv);
    const char *name = "perf read()";
    const char *note = "hardware event instructions";
    int counter = open_counter(PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS);
    if (counter < 0) {
        name = "perf read(), software event";
        note = "no PMU: the event is task-clock";
        counter = open_counter(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK);
    }
    if (counter < 0)
        rival::skip("perf_event_open: " + std::string(std::strerror(errno)) +
                    "; /proc/sys/kernel/perf_event_paranoid "
                    "above 2 allows it only to root");
    uint64_t value = 0;
    const rival::Cost cost = rival::measure(plan, [&] {
        if (read(counter, &value, sizeof(value)) != sizeof(value))
            std::abort();
    });
    rival::print(
        {"rival_perf_read_ns", name, "its own cost, included in its counts; storage", note}, cost);
    return 0;
}
