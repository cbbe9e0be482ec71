// SPDX-License-Identifier: MIT
// output: figures -> text in one of the formats.
#pragma once

#include <cstdint>
#include <string>

#include "qos/analyse/analyse.hpp"

namespace qos
{
// flows: at most so many; 0: all.
std::string text_of(const Figures &figures, uint64_t flows);
std::string json_of(const Figures &figures, uint64_t flows);
std::string csv_of(const Figures &figures, uint64_t flows);
std::string prometheus_of(const Figures &figures, uint64_t flows);

// How many of `count` flows are printed.
inline size_t printed_flows(size_t count, uint64_t flows)
{
    return flows > 0 && flows < count ? size_t(flows) : count;
}
} // namespace qos
