// SPDX-License-Identifier: MIT
// Counter events: requested counters -> perf events of each CPU, in the map that programs read.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <nslice/control.h>

#include "retries.hpp"

namespace nsbpf
{
// A CPU that is offline has none until renew().
class CounterEvents
{
public:
    explicit CounterEvents(std::vector<nslice_kernel_counter> counters)
        : counters_(std::move(counters))
    {
    }
    CounterEvents(const CounterEvents &) = delete;
    CounterEvents &operator=(const CounterEvents &) = delete;

    // map: of perf events, with an element for each counter of each CPU, by CPU.  They count until
    // this descriptor of it is closed.  Throws Refusal.
    void open(int map, uint32_t cpus);
    // After the programs could not read those of a CPU, which has been offline meanwhile.  Less
    // often while they stay unavailable.
    void renew(uint32_t cpu);
    uint32_t count() const { return uint32_t(counters_.size()); }
    // Comma-separated.
    std::string names() const;

private:
    int open_on(uint32_t cpu);
    void close_on(uint32_t cpu);
    [[noreturn]] void refuse(const nslice_kernel_counter &counter, int number) const;

    const std::vector<nslice_kernel_counter> counters_;
    int map_ = -1;
    std::vector<Retries> retries_; // by CPU
    size_t refused_ = 0;           // index of the counter that open_on() could not open
};
} // namespace nsbpf
