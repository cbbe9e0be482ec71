// SPDX-License-Identifier: MIT
// DPDK's rte_trace: an event into the thread's trace buffer, saved at the end.  dpdk.py counts the
// saved events.
#include "rounds.hpp"

#include <rte_eal.h>
#include <rte_errno.h>
#include <rte_trace.h>
#include <rte_version.h>

#include "dpdk_event.h"

namespace
{
// No devices, no huge pages, no files outside the current folder.
void start_eal(const char *program)
{
    bench::pin_to_last_cpu();
    const std::string cpu = std::to_string(sched_getcpu());
    std::vector<std::string> words = {program,
                                      "-l",
                                      cpu,
                                      "--no-huge",
                                      "--no-pci",
                                      "--no-shconf",
                                      "--no-telemetry",
                                      "--log-level=*:error",
                                      "--trace=rival.event",
                                      "--trace-dir=."};
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(word.data());
    if (rte_eal_init(int(arguments.size()), arguments.data()) < 0)
        rival::skip(std::string("rte_eal_init: ") + rte_strerror(rte_errno));
}
} // namespace

int main(int argc, char **argv)
{
    const rival::Plan plan = rival::plan_of(argc, argv);
    start_eal(argv[0]);
    if (!rte_trace_is_enabled())
        rival::skip("DPDK was built without its trace library");
    const rival::Cost cost = rival::measure(plan, [] { rival_event(); });
    rival::print({"rival_dpdk_ns", "DPDK rte_trace",
                  "its own cost; does not count overwritten events",
                  std::string(rte_version()) + ", flight recorder of 1 MB per thread (defaults)"},
                 cost);
    return rte_eal_cleanup() == 0 ? 0 : 1; // saves the trace
}
