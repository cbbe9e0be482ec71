// SPDX-License-Identifier: MIT
// Graph with capacities -> the cheapest set of edges whose removal disconnects the sink from the
// source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace mapi::match
{
// Dinic's algorithm: maximum flow, then the edges leaving the set that the source can still reach.
class MinCut
{
public:
    static constexpr uint64_t kUncuttable = std::numeric_limits<uint64_t>::max() / 2;

    explicit MinCut(size_t vertices) : edges_of_(vertices) {}
    // Returns the edge's number: 0, 1, 2, ...
    size_t add_edge(size_t from, size_t to, uint64_t capacity);
    // Returns edges by number in `cut`.  False: some path consists only of uncuttable edges.
    bool find(size_t source, size_t sink, std::vector<size_t> &cut);

private:
    struct Edge {
        size_t to;
        uint64_t rest; // capacity left
    };

    bool find_levels(size_t source, size_t sink);
    uint64_t push(size_t source, size_t sink);

    std::vector<Edge> edges_; // 2 n, and its reverse 2 n + 1
    std::vector<std::vector<size_t>> edges_of_;
    std::vector<size_t> levels_; // distance from the source, which has 1; 0: not reached
    std::vector<size_t> next_;   // per vertex: next edge to try
};
} // namespace mapi::match
