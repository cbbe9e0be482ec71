// SPDX-License-Identifier: MIT
// What can be done before a packet, to make a part of the machine cold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace ktime_runner
{
enum class Before {
    kNothing,
    kTestRun, // of the program itself, by BPF_PROG_TEST_RUN: its code and map are warm
    kWait,    // some milliseconds, as long as loading and attaching take
    kLoad,    // and unload another program, which flushes the TLB
    kLevel2,  // read more memory than the second-level cache has
    kLevel3,  // read more memory than the last-level cache has
};

std::optional<Before> before_of(std::string_view name);

class Cold
{
public:
    // For all but kTestRun, which belongs to the attached program.
    void make(Before before);

private:
    void read_memory(size_t bytes);

    std::vector<uint8_t> memory_;
    uint64_t sum_ = 0; // of what was read, so that reading is not left out
};
} // namespace ktime_runner
