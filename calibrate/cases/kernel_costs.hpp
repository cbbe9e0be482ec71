// SPDX-License-Identifier: MIT
// kernel_costs: what nsmod measured in the kernel -> figures.  Its text is taken as a stranger's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure.hpp"

namespace calibrate
{
struct KernelCost {
    std::string name;
    std::optional<Estimate> ticks;
    std::string reason; // where there are none
};

struct KernelCosts {
    std::vector<KernelCost> costs;
    unsigned bad_lines = 0; // not as nsmod/ABI.md says, or a name for the second time
};

KernelCosts parse_kernel_costs(std::string_view text);

// Asks the module to measure on a CPU.  Empty, and `text` has its answer; or why there is none.
std::string read_kernel_costs(unsigned cpu, std::uint32_t batches, std::string &text);
} // namespace calibrate
