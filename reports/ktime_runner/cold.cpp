// SPDX-License-Identifier: MIT
// cold: evicts caches, flushes the TLB, or waits.
#include "reports/ktime_runner/cold.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <unistd.h>

#include "reports/ktime_runner/attached_program.hpp"

namespace ktime_runner
{
namespace
{
constexpr size_t kLineBytes = 64;
constexpr size_t kTimes = 4; // of the cache's size, since replacement is not strict
constexpr useconds_t kWaitUs = 5000;
constexpr size_t kLevel2Default = 1 << 20, kLevel3Default = 32 << 20; // if the C library knows none

constexpr std::array<std::pair<std::string_view, Before>, 6> kNames = {
    {{"nothing", Before::kNothing},
     {"test_run", Before::kTestRun},
     {"wait", Before::kWait},
     {"load", Before::kLoad},
     {"level_2", Before::kLevel2},
     {"level_3", Before::kLevel3}}};

size_t cache_bytes(int name, size_t otherwise)
{
    const long bytes = sysconf(name);
    return bytes > 0 ? size_t(bytes) : otherwise;
}
} // namespace

std::optional<Before> before_of(std::string_view name)
{
    const auto *const found =
        std::ranges::find(kNames, name, &std::pair<std::string_view, Before>::first);
    return found == kNames.end() ? std::nullopt : std::optional(found->second);
}

void Cold::make(Before before)
{
    switch (before) {
    case Before::kNothing:
    case Before::kTestRun: return;
    case Before::kWait: usleep(kWaitUs); return;
    case Before::kLoad: LoadedProgram("none_0"); return;
    case Before::kLevel2:
        return read_memory(kTimes * cache_bytes(_SC_LEVEL2_CACHE_SIZE, kLevel2Default));
    case Before::kLevel3:
        return read_memory(kTimes * cache_bytes(_SC_LEVEL3_CACHE_SIZE, kLevel3Default));
    }
}

void Cold::read_memory(size_t bytes)
{
    if (memory_.size() < bytes)
        memory_.assign(bytes, 1); // pages that nobody wrote are one page of zeros
    for (size_t i = 0; i < bytes; i += kLineBytes)
        sum_ += memory_[i];
    asm volatile("" ::"r"(sum_));
}
} // namespace ktime_runner
