// SPDX-License-Identifier: MIT
// Work for stress tests: units whose records show whether they are whole, and threads that write
// them.
#pragma once

#include <sys/rseq.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <nsprobe/probe.h>

#include "support/probe_session.hpp"
#include "support/requires.hpp"

namespace stress
{
constexpr uint64_t kUnitRecords = 7;

// INIT's three words depend on each other, so that a mixture of two records is detected.
inline void write_unit(uint64_t number)
{
    NET_SLICE_INIT(unit, number, ~number, number * 3);
    NET_SLICE_START(outer);
    NET_SLICE_START(inner);
    NET_SLICE_MARK(value, number ^ 0x5555);
    NET_SLICE_STOP(inner);
    NET_SLICE_STOP(outer);
    NET_SLICE_EXIT(unit);
}

inline bool is_whole(const test_support::Trace &trace)
{
    for (const auto &record : trace.records)
        if (record.kind == NSLICE_KIND_INIT &&
            (record.word[1] != ~record.word[0] || record.word[2] != record.word[0] * 3))
            return false;
    return true;
}

inline bool has_rseq()
{
    return __rseq_size > 0;
}

// Option texts for the ring kinds that this process can write.
inline std::vector<std::string> kinds()
{
    return has_rseq() ? std::vector<std::string>{"kind=rseq", "kind=atomic"}
                      : std::vector<std::string>{"kind=atomic"};
}

// Runs `work(thread number)`, which returns the number of records it issued, in several threads;
// returns the sum.
inline uint64_t run_threads(unsigned count, const std::function<uint64_t(unsigned)> &work)
{
    std::atomic<uint64_t> issued{0};
    std::vector<std::thread> threads;
    for (unsigned i = 0; i < count; ++i)
        threads.emplace_back([&, i] { issued += work(i); });
    for (auto &thread : threads)
        thread.join();
    return issued;
}

inline uint64_t write_units(uint64_t count)
{
    for (uint64_t i = 0; i < count; ++i)
        write_unit(i);
    return count * kUnitRecords;
}
} // namespace stress
