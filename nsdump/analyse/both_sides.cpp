// SPDX-License-Identifier: MIT
// analyse: which ring of the kernel's belongs to which of the programs'.
#include "analyse/both_sides.hpp"

namespace nsdump
{
std::vector<std::uint32_t> kernel_indices(const TraceFile &trace)
{
    std::vector<std::uint32_t> indices;
    if (!trace.has_kernel())
        return indices;
    const auto &cpus = trace.cpus();
    for (std::uint32_t place = 0; place < cpus.size(); ++place) {
        indices.push_back(place);
        for (std::uint32_t other = place + 1; other < cpus.size() && !cpus[place].is_kernel; ++other)
            if (cpus[other].is_kernel && cpus[other].cpu == cpus[place].cpu)
                indices[place] = other;
    }
    return indices;
}
} // namespace nsdump
