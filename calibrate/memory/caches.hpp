// SPDX-License-Identifier: MIT
// caches: /sys or the C library -> the data caches of a CPU.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace calibrate
{
struct Cache {
    unsigned level = 0;
    uint64_t bytes = 0;
    std::optional<unsigned> line_bytes;
    std::optional<std::string> shared_by; // list of CPUs
    std::string source;
};

// By level; `root` is "/", or a test tree.  Empty if neither source reports any.
std::vector<Cache> read_caches(const std::filesystem::path &root, unsigned cpu);
// As the C library reports them, by cpuid on x86-64.
std::vector<Cache> caches_of_library();

// The size at which loads show the latency of one of the caches: more than the cache before it
// holds, and little enough for the part of the cache that others leave.
uint64_t size_for(const std::vector<Cache> &caches, const Cache &cache);

// MemAvailable of /proc/meminfo, or the limit of the control group; absent if not reported.
std::optional<uint64_t> available_bytes(const std::filesystem::path &root);
} // namespace calibrate
