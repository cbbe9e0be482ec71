// SPDX-License-Identifier: MIT
// clocks: CPU time of this process, and instructions of all CPUs where there is a PMU.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mapi_reader
{
uint64_t process_ns();
// Of the time stamp counter; 0 on other machines than x86-64.
double ticks_per_s();

// Instructions of kernel and programs, on all CPUs.
class Instructions
{
public:
    Instructions();
    ~Instructions();
    Instructions(const Instructions &) = delete;
    Instructions &operator=(const Instructions &) = delete;

    std::optional<uint64_t> read() const;
    // Why there are none; empty if there are.
    const std::string &why_not() const { return why_not_; }

private:
    std::vector<int> counters_;
    std::string why_not_;
};
} // namespace mapi_reader
