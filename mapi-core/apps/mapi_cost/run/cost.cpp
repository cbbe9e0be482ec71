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
    double subtracted = 0, bound = 0, own_bound = 0;
    for (size_t i = 0; i < sums.parts.size(); ++i)
        cost.parts.push_back({sums.parts[i], 0, sums.is_counted[i]});
    for (const Block *block : kept) {
        cost.whole.packets += block->packets;
        cost.whole.raw += block->raw;
        cost.whole.net += block->net;
        subtracted += block->subtracted_ci95;
        bound += block->subtracted_bound;
        own_bound += block->own_bound;
        for (size_t i = 0; i < cost.parts.size(); ++i)
            cost.parts[i].net += block->part_net[i];
    }
    const double packets = double(cost.whole.packets);
    cost.whole.raw /= packets;
    cost.whole.net /= packets;
    for (PartCost &part : cost.parts)
        part.net /= packets;
    cost.whole.ci95 = interval_with(sampling_ci95, subtracted / packets, bound / packets);
    cost.whole.bound = bound / packets;
    cost.whole.own_bound = own_bound / packets;
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

} // namespace

// The difference between two passes over the units that are complete in both, because counts differ
// more from packet to packet than a flow costs.
Measured further_counts(const TraceSums &one, const TraceSums &many, unsigned further)
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

namespace
{
struct PassMean {
    std::vector<size_t> kept; // places of the values that are not trimmed
    double mean = 0;
    std::optional<double> ci95;
};

// As in a pass, but each value is a pass.
PassMean mean_of_passes(const std::vector<double> &values)
{
    PassMean out;
    out.kept.resize(values.size());
    std::iota(out.kept.begin(), out.kept.end(), size_t{0});
    std::sort(out.kept.begin(), out.kept.end(),
              [&](size_t a, size_t b) { return values[a] < values[b]; });
    const ptrdiff_t cut = ptrdiff_t(values.size()) / kTrimmedPart;
    out.kept.erase(out.kept.end() - cut, out.kept.end());
    out.kept.erase(out.kept.begin(), out.kept.begin() + cut);
    const double low = values[out.kept.front()], high = values[out.kept.back()];
    for (const size_t place : out.kept)
        out.mean += values[place] / double(out.kept.size());
    if (values.size() < 2)
        return out;
    double mean = 0, squares = 0;
    for (const double value : values)
        mean += std::clamp(value, low, high) / double(values.size());
    for (const double value : values)
        squares += std::pow(std::clamp(value, low, high) - mean, 2);
    const double n = double(values.size()), share = double(out.kept.size()) / n;
    out.ci95 = nsdump::student_t95(out.kept.size() - 1) * std::sqrt(squares / (n - 1) / n) / share;
    return out;
}

// Of one pass; nullopt if it has none.
std::optional<double> random_ci95(const Measured &pass)
{
    return pass.ci95 ? std::optional(*pass.ci95 - pass.bound) : std::nullopt;
}

// Half width from the differences between passes and those within them.
std::optional<double> wider(const PassMean &between,
                            const std::vector<std::optional<double>> &within)
{
    double squares = 0;
    for (const std::optional<double> &ci95 : within) {
        if (!ci95)
            return std::nullopt;
        squares += *ci95 * *ci95;
    }
    return std::max(between.ci95.value_or(0), std::sqrt(squares) / double(within.size()));
}
} // namespace

Cost cost_of_passes(const std::vector<Cost> &passes)
{
    std::vector<double> net;
    std::vector<std::optional<double>> within;
    for (const Cost &pass : passes) {
        net.push_back(pass.whole.net);
        within.push_back(random_ci95(pass.whole));
    }
    const PassMean mean = mean_of_passes(net);
    Cost cost;
    cost.parts = passes[mean.kept.front()].parts;
    for (PartCost &part : cost.parts)
        part.net = 0;
    const double share = 1 / double(mean.kept.size());
    for (const size_t place : mean.kept) {
        const Cost &pass = passes[place];
        cost.whole.raw += share * pass.whole.raw;
        cost.whole.bound += share * pass.whole.bound;
        cost.whole.own_bound += share * pass.whole.own_bound;
        for (const PartCost &part : pass.parts) {
            auto found = std::find_if(cost.parts.begin(), cost.parts.end(),
                                      [&](const PartCost &one) { return one.name == part.name; });
            if (found == cost.parts.end())
                found = cost.parts.insert(found, {part.name, 0, part.is_counted});
            found->net += share * part.net;
        }
    }
    for (const Cost &pass : passes)
        cost.whole.packets += pass.whole.packets;
    cost.whole.net = mean.mean;
    if (const auto ci95 = wider(mean, within))
        cost.whole.ci95 = *ci95 + cost.whole.bound;
    return cost;
}

// Own reads cancel.  What the probes inside cost was measured for each load on its own.
Measured further_of_passes(const std::vector<Cost> &one, const std::vector<Cost> &many,
                           unsigned further)
{
    std::vector<double> net;
    std::vector<std::optional<double>> within;
    for (size_t i = 0; i < std::min(one.size(), many.size()); ++i) {
        const Measured &base = one[i].whole, &more = many[i].whole;
        net.push_back((more.net - base.net) / further);
        const auto a = random_ci95(base), b = random_ci95(more);
        within.push_back(a && b ? std::optional(std::hypot(*a, *b) / further) : std::nullopt);
    }
    const PassMean mean = mean_of_passes(net);
    Measured added;
    added.net = mean.mean;
    for (const size_t place : mean.kept) {
        const Measured &base = one[place].whole, &more = many[place].whole;
        const double share = 1 / double(mean.kept.size() * further);
        added.raw += share * (more.raw - base.raw);
        added.bound += share * std::hypot(more.bound - more.own_bound, base.bound - base.own_bound);
    }
    for (const Cost &pass : many)
        added.packets += pass.whole.packets;
    if (const auto ci95 = wider(mean, within))
        added.ci95 = *ci95 + added.bound;
    return added;
}
} // namespace mapi_cost
