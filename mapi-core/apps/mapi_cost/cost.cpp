// SPDX-License-Identifier: MIT
// cost: sums of a pass -> cost of one packet (or call) with its interval.
#include "cost.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include <nsprobe/sample.h>

namespace mapi_cost
{
namespace
{
double net_per_packet(const Block &block)
{
    return block.net / double(block.packets);
}

// Half width for the mean of values that weigh alike.
double interval_of_mean(const std::vector<double> &values)
{
    const double n = double(values.size());
    if (n < 2)
        return 0;
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values)
        squares += (value - mean) * (value - mean);
    const double f = n - 1;
    const double t = 1.96 + 3.125 / f - 1.405 / (f * f) + 9.03 / (f * f * f); // Student's quantile, within 2 %
    return t * std::sqrt(squares / f / n);
}

Cost cost_of(const TraceSums &sums, const std::vector<const Block *> &kept, double sampling_ci95)
{
    Cost cost;
    double subtracted = 0;
    for (std::size_t i = 0; i < sums.parts.size(); ++i)
        cost.parts.push_back({sums.parts[i], 0, sums.is_counted[i]});
    for (const Block *block : kept) {
        cost.whole.packets += block->packets;
        cost.whole.raw += block->raw;
        cost.whole.net += block->net;
        subtracted += block->subtracted_ci95;
        for (std::size_t i = 0; i < cost.parts.size(); ++i)
            cost.parts[i].net += block->part_net[i];
    }
    const double packets = double(cost.whole.packets);
    cost.whole.raw /= packets;
    cost.whole.net /= packets;
    for (PartCost &part : cost.parts)
        part.net /= packets;
    cost.whole.ci95 = std::hypot(sampling_ci95, subtracted / packets);
    return cost;
}

std::vector<const Block *> pointers(const TraceSums &sums)
{
    std::vector<const Block *> blocks;
    for (const Block &block : sums.blocks)
        if (block.packets > 0)
            blocks.push_back(&block);
    if (blocks.empty())
        throw std::runtime_error("no whole unit was measured");
    return blocks;
}

bool are_same_units(const TraceSums &one, const TraceSums &many)
{
    return std::equal(one.blocks.begin(), one.blocks.end(), many.blocks.begin(), many.blocks.end(),
                      [](const Block &a, const Block &b) { return a.number == b.number && a.packets == b.packets; });
}
} // namespace

Cost trimmed_cost(const TraceSums &sums)
{
    std::vector<const Block *> blocks = pointers(sums);
    std::sort(blocks.begin(), blocks.end(),
              [](const Block *a, const Block *b) { return net_per_packet(*a) < net_per_packet(*b); });
    std::vector<double> values;
    for (const Block *block : blocks)
        values.push_back(net_per_packet(*block));
    const nsp_estimate estimate = nsp_trimmed_mean(values.data(), std::uint32_t(values.size()));
    const auto cut = std::ptrdiff_t(estimate.trimmed / 2);
    Cost cost = cost_of(sums, {blocks.begin() + cut, blocks.end() - cut}, estimate.ci95);
    cost.whole.packets = sums.packets();
    return cost;
}

Cost mean_cost(const TraceSums &sums)
{
    const std::vector<const Block *> blocks = pointers(sums);
    std::vector<double> values;
    for (const Block *block : blocks)
        values.push_back(net_per_packet(*block));
    return cost_of(sums, blocks, interval_of_mean(values));
}

Measured further_cost(const TraceSums &one, const TraceSums &many, unsigned further, bool is_trimmed)
{
    const Measured base = (is_trimmed ? trimmed_cost(one) : mean_cost(one)).whole;
    const Measured more = (is_trimmed ? trimmed_cost(many) : mean_cost(many)).whole;
    Measured added;
    added.raw = (more.raw - base.raw) / further;
    added.net = (more.net - base.net) / further;
    added.packets = more.packets;
    added.ci95 = std::hypot(more.ci95, base.ci95) / further;
    if (is_trimmed || !are_same_units(one, many))
        return added;
    std::vector<double> differences;
    double subtracted = 0;
    for (std::size_t i = 0; i < one.blocks.size(); ++i) {
        differences.push_back((net_per_packet(many.blocks[i]) - net_per_packet(one.blocks[i])) / further);
        subtracted += std::hypot(many.blocks[i].subtracted_ci95, one.blocks[i].subtracted_ci95);
    }
    added.ci95 = std::hypot(interval_of_mean(differences), subtracted / double(more.packets) / further);
    return added;
}
} // namespace mapi_cost
