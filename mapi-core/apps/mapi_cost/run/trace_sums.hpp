// SPDX-License-Identifier: MIT
// trace_sums: the trace of one pass -> sums over blocks of consecutive units, and nsdump's report about the trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyse/report.hpp"

namespace mapi_cost
{
enum class Field { kTicks = 0, kInstructions = 1 };

struct SumRequest {
    Field field = Field::kTicks;
    std::uint64_t units_per_block = 1;
    std::uint64_t blocks_per_round = 1; // block n and block n + blocks_per_round hold the same packets
    std::uint64_t first_unit = 1;             // those before warm up
    std::uint64_t packets = UINT64_MAX;       // of all units; those that go beyond have come to flows that were being closed
    std::vector<std::string> counted_slices;  // together they are the cost
};

// All values are sums over the units of the block that have every counted slice, none of them cut by a loss
// or, for ticks, migrated.
struct Block {
    std::uint64_t number = 0; // of its first unit
    std::uint64_t index = 0;  // from 0; counts also those that are missing
    std::uint64_t packets = 0;
    double raw = 0;
    double net = 0;
    double subtracted_ci95 = 0; // of the constants that were subtracted; they are the same in every block
    double subtracted_bound = 0; // the same, of what is no chance
    std::vector<double> part_net; // self, by TraceSums::parts

    // What is summed; the number and the index stay.
    void add(const Block &other);
};

struct TraceSums {
    std::vector<std::string> parts; // slices inside the units, by first appearance
    std::vector<bool> is_counted;   // the part lies in the cost
    std::vector<Block> blocks;
    std::uint64_t blocks_per_round = 1;
    std::uint64_t units_left_out = 0;
    nsdump::StatsReport report;

    std::uint64_t packets() const;
};

// Throws nsdump::TraceError.
TraceSums sum_trace(const std::string &path, const SumRequest &request);

// Makes `count` blocks at most of consecutive ones, each with its share of the packets at least: batches of a live device are of any
// size, and one of a few packets says little.
void pool_blocks(TraceSums &sums, std::uint64_t count);
} // namespace mapi_cost
