// SPDX-License-Identifier: MIT
// cost: sums of a pass -> cost of one packet (or call) with its interval.
#include "cost.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <stdexcept>

#include "analyse/correct/student.hpp"

namespace mapi_cost
{
namespace
{
constexpr ptrdiff_t kTrimmedPart = 5; // a fifth at each end

double net_per_packet(const Block &block)
{
    return block.net / double(block.packets);
}

template <class Iterator> double mean_net(Iterator first, Iterator last)
{
    double sum = 0;
    for (Iterator at = first; at != last; ++at)
        sum += net_per_packet(**at);
    return sum / double(last - first);
}

// Half width of the interval of the mean of equally weighted values; nullopt for a single value.
std::optional<double> interval_of_mean(const std::vector<double> &values)
{
    const double n = double(values.size());
    if (n < 2)
        return std::nullopt;
    const double mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
    double squares = 0;
    for (const double value : values)
        squares += (value - mean) * (value - mean);
    return nsdump::student_t95(values.size() - 1) * std::sqrt(squares / (n - 1) / n);
}

// Half width of the interval of total cost / total packets; blocks with the same number of packets
// have the same weight.  Nullopt for a single block.
std::optional<double> interval_of_ratio(const std::vector<const Block *> &blocks)
{
    const double n = double(blocks.size());
    if (n < 2)
        return std::nullopt;
    double net = 0, packets = 0, squares = 0;
    for (const Block *block : blocks) {
        net += block->net;
        packets += double(block->packets);
    }
    for (const Block *block : blocks) {
        const double residual = block->net - net / packets * double(block->packets);
        squares += residual * residual;
    }
    return nsdump::student_t95(blocks.size() - 1) * std::sqrt(squares * n / (n - 1)) / packets;
}

// Combines the spread of the blocks with the error of the constants: `subtracted` is random,
// `bound` systematic.
std::optional<double> interval_with(std::optional<double> sampling_ci95, double subtracted,
                                    double bound)
{
    if (!sampling_ci95)
        return std::nullopt;
    return std::hypot(*sampling_ci95, subtracted) + bound;
}

Cost cost_of(const TraceSums &sums, const std::vector<const Block *> &kept,
             std::optional<double> sampling_ci95)
{
    Cost cost;
    double subtracted = 0, bound = 0;
    for (size_t i = 0; i < sums.parts.size(); ++i)
        cost.parts.push_back({sums.parts[i], 0, sums.is_counted[i]});
    for (const Block *block : kept) {
        cost.whole.packets += block->packets;
        cost.whole.raw += block->raw;
        cost.whole.net += block->net;
        subtracted += block->subtracted_ci95;
        bound += block->subtracted_bound;
        for (size_t i = 0; i < cost.parts.size(); ++i)
            cost.parts[i].net += block->part_net[i];
    }
    const double packets = double(cost.whole.packets);
    cost.whole.raw /= packets;
    cost.whole.net /= packets;
    for (PartCost &part : cost.parts)
        part.net /= packets;
    cost.whole.ci95 = interval_with(sampling_ci95, subtracted / packets, bound / packets);
    return cost;
}

std::vector<const Block *> pointers(const TraceSums &sums)
{
    std::vector<const Block *> blocks;
    for (const Block &block : sums.blocks)
        if (block.packets > 0)
            blocks.push_back(&block);
    if (blocks.empty())
        throw NothingMeasured(sums.units_left_out);
    return blocks;
}

// The difference between two passes over the units that are complete in both, because counts differ
// more from packet to packet than a flow costs.
Measured difference_of_units(const TraceSums &one, const TraceSums &many, unsigned further)
{
    std::map<uint64_t, const Block *> known;
    for (const Block &block : one.blocks)
        known.emplace(block.number, &block);
    Measured added;
    std::vector<double> differences;
    double subtracted = 0, bound = 0;
    for (const Block &block : many.blocks) {
        const auto found = known.find(block.number);
        if (found == known.end() || found->second->packets != block.packets || block.packets == 0)
            continue;
        const Block &base = *found->second;
        added.packets += block.packets;
        added.raw += block.raw - base.raw;
        added.net += block.net - base.net;
        subtracted += std::hypot(block.subtracted_ci95, base.subtracted_ci95);
        bound += block.subtracted_bound + base.subtracted_bound;
        differences.push_back((net_per_packet(block) - net_per_packet(base)) / further);
    }
    if (differences.empty())
        throw NothingMeasured(one.units_left_out + many.units_left_out);
    const double packets = double(added.packets) * further;
    added.raw /= packets;
    added.net /= packets;
    added.ci95 =
        interval_with(interval_of_mean(differences), subtracted / packets, bound / packets);
    return added;
}
} // namespace

// Interval after Tukey and McLaughlin: values beyond the kept ones are moved to the edge.  The
// residuals of a round's blocks are averaged first, so that effects common to a whole round count
// in full.
Cost trimmed_cost(const TraceSums &sums)
{
    std::vector<const Block *> blocks = pointers(sums);
    const auto place = [&](const Block *block) { return block->index % sums.blocks_per_round; };
    std::sort(blocks.begin(), blocks.end(), [&](const Block *a, const Block *b) {
        return place(a) != place(b) ? place(a) < place(b) : net_per_packet(*a) < net_per_packet(*b);
    });
    std::vector<const Block *> kept;
    std::map<uint64_t, std::vector<double>> residuals; // by round
    for (auto first = blocks.begin(); first != blocks.end();) {
        const auto last = std::find_if(
            first, blocks.end(), [&](const Block *block) { return place(block) != place(*first); });
        const ptrdiff_t cut = (last - first) / kTrimmedPart;
        const auto low = first + cut;
        const auto high = last - cut;
        kept.insert(kept.end(), low, high);
        const double mean = mean_net(low, high);
        for (auto at = first; at != last; ++at) {
            const double edged = std::clamp(net_per_packet(**at), net_per_packet(**low),
                                            net_per_packet(**(high - 1)));
            residuals[(*at)->index / sums.blocks_per_round].push_back(edged - mean);
        }
        first = last;
    }
    std::vector<double> rounds;
    for (const auto &[round, values] : residuals)
        rounds.push_back(std::accumulate(values.begin(), values.end(), 0.0) /
                         double(values.size()));
    const double kept_share = double(kept.size()) / double(blocks.size());
    std::optional<double> sampling_ci95 = interval_of_mean(rounds);
    if (sampling_ci95)
        *sampling_ci95 /= kept_share;
    Cost cost = cost_of(sums, kept, sampling_ci95);
    cost.whole.packets = sums.packets();
    return cost;
}

Cost mean_cost(const TraceSums &sums)
{
    const std::vector<const Block *> blocks = pointers(sums);
    return cost_of(sums, blocks, interval_of_ratio(blocks));
}

Measured further_cost(const TraceSums &one, const TraceSums &many, unsigned further,
                      bool is_trimmed)
{
    if (!is_trimmed)
        return difference_of_units(one, many, further);
    const Measured base = trimmed_cost(one).whole;
    const Measured more = trimmed_cost(many).whole;
    Measured added;
    added.raw = (more.raw - base.raw) / further;
    added.net = (more.net - base.net) / further;
    added.packets = more.packets;
    added.ci95 = std::nullopt;
    if (more.ci95 && base.ci95)
        added.ci95 = std::hypot(*more.ci95, *base.ci95) / further;
    return added;
}
} // namespace mapi_cost
