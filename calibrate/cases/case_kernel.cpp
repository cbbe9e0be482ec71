// SPDX-License-Identifier: MIT
// case: instructions and probes in the kernel, measured by nsmod if it is loaded.
#include <sched.h>

#include <fmt/format.h>

#include "cases.hpp"
#include "kernel_costs.hpp"

namespace calibrate
{
void add_kernel_costs(const KernelCosts &all, Results &results)
{
    for (const KernelCost &cost : all.costs) {
        if (cost.ticks)
            results.kernel_cost(cost.name).add(*cost.ticks);
        else
            results.lacks(kInKernel + cost.name, cost.reason);
    }
    if (all.bad_lines > 0)
        results.lacks(kKernel, fmt::format("{} malformed lines from nsmod", all.bad_lines));
}

void run_kernel_case(const Pass &pass, Results &results)
{
    std::string text;
    const std::string reason = read_kernel_costs(unsigned(sched_getcpu()), pass.batches, text);
    if (!reason.empty())
        results.lacks(kKernel, reason);
    else
        add_kernel_costs(parse_kernel_costs(text), results);
}
} // namespace calibrate
