// SPDX-License-Identifier: MIT
// kernel_costs: text of measurements from nsmod -> figures.  The text is not trusted.
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
    std::string reason; // if there are none
};

struct KernelCosts {
    std::vector<KernelCost> costs;
    unsigned bad_lines = 0; // not in the format of nsmod/ABI.md, or a duplicate name
};

KernelCosts parse_kernel_costs(std::string_view text);

// Makes the module measure on a CPU.  Returns an empty string and its answer in `text`, or the
// reason for failure.
std::string read_kernel_costs(unsigned cpu, uint32_t batches, std::string &text);
} // namespace calibrate
