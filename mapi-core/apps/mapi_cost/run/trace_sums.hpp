// SPDX-License-Identifier: MIT
// trace_sums: the trace of one pass -> sums over blocks of consecutive units, and nsdump's report
// on the trace.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyse/report.hpp"
#include "thinned.hpp"

namespace mapi_cost
{
enum class Field { kTicks = 0, kInstructions = 1 };

struct SumRequest {
    Field field = Field::kTicks;
    uint64_t units_per_block = 1;
    uint64_t blocks_per_round = 1; // blocks n and n + blocks_per_round contain the same packets
    uint64_t first_unit = 1;       // earlier units are warm-up
    uint64_t packets =
        UINT64_MAX; // of all units; later ones arrived while the flows were being closed
    std::vector<std::string> counted_slices; // their sum is the cost
    InsideFactors inside;                    // of counted slices
};

// All values are sums over the units of the block that have every counted slice, none of them cut
// by a loss or, for ticks, migrated.
struct Block {
    uint64_t number = 0; // of its first unit
    uint64_t index = 0;  // from 0; missing blocks are counted
    uint64_t packets = 0;
    double raw = 0;
    double net = 0;
    double subtracted_ci95 = 0;   // of the subtracted constants, which are the same in every block
    double subtracted_bound = 0;  // the same, for the systematic part
    double own_bound = 0;         // part of it: own reads of the counted slices
    std::vector<double> part_net; // self cost, indexed like TraceSums::parts

    // Adds the sums; number and index are unchanged.
    void add(const Block &other);
};

struct TraceSums {
    std::vector<std::string> parts; // slices inside the units, in order of first appearance
    std::vector<bool> is_counted;   // the part is included in the cost
    std::vector<Block> blocks;
    uint64_t blocks_per_round = 1;
    uint64_t units_left_out = 0;
    nsdump::StatsReport report;

    uint64_t packets() const;
};

// Throws nsdump::TraceError.
TraceSums sum_trace(const std::string &path, const SumRequest &request);

// A trace of several passes, one after the other; in each, the units are numbered from 1.  The
// report is that of the whole trace, in the first.
std::vector<TraceSums> sum_passes(const std::string &path, const std::vector<SumRequest> &requests);

// Merges consecutive blocks into at most `count`, each with at least its share of the packets:
// batches of a live device have any size, and one of a few packets is not representative.
void pool_blocks(TraceSums &sums, uint64_t count);
} // namespace mapi_cost
