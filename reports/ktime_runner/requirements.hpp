// SPDX-License-Identifier: MIT
// Capabilities and run statistics that the measurement requires.
#pragma once

namespace ktime_runner
{
// Throws Refusal with the names of those that are missing.
void require_capabilities();

// The kernel measures each run of a BPF program until this ends, with the process at the latest:
// by BPF_ENABLE_STATS (Linux 5.8), which leaves kernel.bpf_stats_enabled as it is.
class StatisticsOn
{
public:
    StatisticsOn(); // throws Refusal
    StatisticsOn(const StatisticsOn &) = delete;
    StatisticsOn &operator=(const StatisticsOn &) = delete;
    ~StatisticsOn();

private:
    int descriptor_ = -1;
};
} // namespace ktime_runner
