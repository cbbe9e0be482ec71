// SPDX-License-Identifier: MIT
// Counter events: pinned, so that they count or cannot be read, and are never scaled.
#include "counter_events.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <fstream>

#include <bpf/bpf.h>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "nsbpf/recorder.hpp"
#include "src/identify.hpp"

namespace nsbpf
{
namespace
{
uint64_t now_ms()
{
    using namespace std::chrono;
    return uint64_t(duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count());
}

bool is_online(uint32_t cpu)
{
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(cpu);
    std::ifstream file(folder + "/online");
    int online = 0;
    if (file >> online)
        return online == 1;
    return access(folder.c_str(), F_OK) == 0; // it cannot go offline
}

// A descriptor, or -errno.  All of the CPU counts, kernel and programs.
int open_event(const nslice_kernel_counter &counter, uint32_t cpu)
{
    perf_event_attr attr = {};
    attr.type = counter.type;
    attr.size = sizeof(attr);
    attr.config = counter.config;
    attr.config1 = counter.config1;
    attr.pinned = 1;
    const long event = syscall(SYS_perf_event_open, &attr, -1, int(cpu), -1, PERF_FLAG_FD_CLOEXEC);
    if (event < 0)
        return -errno;
    uint64_t value;
    if (read(int(event), &value, sizeof(value)) == sizeof(value))
        return int(event);
    close(int(event)); // it reads as the end of a file: it got no register
    return -EBUSY;
}
} // namespace

std::string CounterEvents::names() const
{
    std::string names;
    for (const nslice_kernel_counter &counter : counters_)
        names += (names.empty() ? "" : ",") + std::string(counter.name);
    return names;
}

void CounterEvents::close_on(uint32_t cpu)
{
    for (size_t i = 0; i < counters_.size(); ++i) {
        const uint32_t key = uint32_t(cpu * counters_.size() + i);
        bpf_map_delete_elem(map_, &key);
    }
}

// Returns 0 or -errno.  The map keeps an event without its descriptor, of which there may be too
// few for many CPUs.
int CounterEvents::open_on(uint32_t cpu)
{
    for (size_t i = 0; i < counters_.size(); ++i) {
        const uint32_t key = uint32_t(cpu * counters_.size() + i);
        const int event = open_event(counters_[i], cpu);
        int result = std::min(event, 0);
        if (event >= 0) {
            if (bpf_map_update_elem(map_, &key, &event, BPF_ANY) != 0)
                result = -errno;
            close(event);
        }
        if (result != 0) {
            refused_ = i;
            close_on(cpu);
            return result;
        }
    }
    return 0;
}

void CounterEvents::open(int map, uint32_t cpus)
{
    map_ = map;
    retries_.resize(cpus);
    for (uint32_t cpu = 0; cpu < cpus; ++cpu) {
        if (!is_online(cpu))
            continue;
        if (const int result = open_on(cpu); result != 0 && is_online(cpu))
            refuse(counters_[refused_], -result);
    }
}

void CounterEvents::renew(uint32_t cpu)
{
    if (cpu >= retries_.size() || !retries_[cpu].is_due(now_ms()))
        return;
    close_on(cpu);
    open_on(cpu); // until it succeeds, the records of the CPU have no counters
}

void CounterEvents::refuse(const nslice_kernel_counter &counter, int number) const
{
    const std::string what = "counter \"" + std::string(counter.name) + "\"";
    switch (number) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        throw Refusal(
            "kernel: " + what +
                ": unavailable: this machine, like most virtual machines, has no PMU that "
                "counts it (omit it, or count an event of the kernel, such as page-faults "
                "or context-switches)",
            number);
    case EBUSY:
        throw Refusal("kernel: " + what + ": no hardware counter is free beside the other " +
                          std::to_string(counters_.size() - 1) +
                          " requested and those held by others, such as perf and the NMI watchdog "
                          "(request fewer, or write 0 to /proc/sys/kernel/nmi_watchdog)",
                      number);
    default: nsbpf::refuse(what, number);
    }
}
} // namespace nsbpf
