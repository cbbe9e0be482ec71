// SPDX-License-Identifier: MIT
// Graph with capacities -> the cheapest edges without which there is no way from source to sink.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace mapi::match
{
// Dinic's algorithm: maximum flow, then the edges that leave what the source still reaches.
class MinCut
{
public:
    static constexpr uint64_t kUncuttable = std::numeric_limits<uint64_t>::max() / 2;

    explicit MinCut(size_t vertices) : edges_of_(vertices) {}
    // Returns its number: 0, 1, 2, ...
    size_t add_edge(size_t from, size_t to, uint64_t capacity);
    // Edges by their numbers.  False: only edges that cannot be cut are on some way.
    bool find(size_t source, size_t sink, std::vector<size_t> &cut);

private:
    struct Edge {
        size_t to;
        uint64_t rest; // capacity left
    };

    bool find_levels(size_t source, size_t sink);
    uint64_t push(size_t source, size_t sink);

    std::vector<Edge> edges_; // 2 n and, against its direction, 2 n + 1
    std::vector<std::vector<size_t>> edges_of_;
    std::vector<size_t> levels_; // steps from the source, 0: not reached; the source has 1
    std::vector<size_t> next_; // edge of each vertex that was not tried yet
};
} // namespace mapi::match
