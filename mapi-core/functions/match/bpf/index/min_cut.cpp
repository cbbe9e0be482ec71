// SPDX-License-Identifier: MIT
// Maximum flow by shortest paths first; no recursion, since a filter program may be long.
#include "min_cut.hpp"

#include <algorithm>

namespace mapi::match
{
size_t MinCut::add_edge(size_t from, size_t to, uint64_t capacity)
{
    const size_t number = edges_.size() / 2;
    edges_of_[from].push_back(edges_.size());
    edges_.push_back({to, capacity});
    edges_of_[to].push_back(edges_.size());
    edges_.push_back({from, 0});
    return number;
}

bool MinCut::find_levels(size_t source, size_t sink)
{
    levels_.assign(edges_of_.size(), 0);
    next_.assign(edges_of_.size(), 0);
    levels_[source] = 1;
    std::vector<size_t> reached{source};
    for (size_t i = 0; i < reached.size(); ++i) {
        for (const size_t number : edges_of_[reached[i]]) {
            const Edge &edge = edges_[number];
            if (edge.rest == 0 || levels_[edge.to] != 0)
                continue;
            levels_[edge.to] = levels_[reached[i]] + 1;
            reached.push_back(edge.to);
        }
    }
    return levels_[sink] != 0;
}

// Pushes flow along one more shortest path; 0: none of this length is left.
uint64_t MinCut::push(size_t source, size_t sink)
{
    size_t at = source;
    std::vector<size_t> taken;
    while (at != sink) {
        if (next_[at] == edges_of_[at].size()) {
            if (taken.empty())
                return 0;
            at = edges_[taken.back() ^ 1].to;
            taken.pop_back();
            ++next_[at]; // a dead end
            continue;
        }
        const size_t number = edges_of_[at][next_[at]];
        if (edges_[number].rest > 0 && levels_[edges_[number].to] == levels_[at] + 1) {
            taken.push_back(number);
            at = edges_[number].to;
        } else {
            ++next_[at];
        }
    }
    uint64_t pushed = kUncuttable;
    for (const size_t number : taken)
        pushed = std::min(pushed, edges_[number].rest);
    for (const size_t number : taken) {
        edges_[number].rest -= pushed;
        edges_[number ^ 1].rest += pushed;
    }
    return pushed;
}

bool MinCut::find(size_t source, size_t sink, std::vector<size_t> &cut)
{
    cut.clear();
    uint64_t flow = 0;
    while (find_levels(source, sink)) {
        for (uint64_t pushed = 1; pushed > 0 && flow < kUncuttable; flow += pushed)
            pushed = push(source, sink);
        if (flow >= kUncuttable)
            return false;
    }
    for (size_t number = 0; number < edges_.size(); number += 2) {
        if (levels_[edges_[number ^ 1].to] != 0 && levels_[edges_[number].to] == 0)
            cut.push_back(number / 2);
    }
    return true;
}
} // namespace mapi::match
