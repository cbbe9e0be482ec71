// SPDX-License-Identifier: MIT
// load: runs that fit together, and their packets.
#include "qos/analyse/load.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace qos
{
namespace
{
constexpr double kHashes = 4294967296.0;
constexpr int64_t kNoLimit = INT64_MIN;       // of time
constexpr int64_t kSamePacketNs = 1000000000; // between what two runs see of copies of a packet

std::vector<Run> runs_of(const std::vector<Run> &runs, const std::string &point)
{
    std::vector<Run> found;
    std::vector<std::string> names;
    for (const Run &run : runs) {
        if (run.point == point)
            found.push_back(run);
        if (std::find(names.begin(), names.end(), run.point) == names.end())
            names.push_back(run.point);
    }
    if (found.empty())
        throw StoreError(names.empty() ? std::string("contains no points (mapi-qos collect)")
                                       : fmt::format("contains no point \"{}\"; available: {}",
                                                     point, fmt::join(names, ", ")));
    return found;
}

void check_same_hashes(const Run &one, const Run &other)
{
    if (one.key == other.key && one.payload_bytes == other.payload_bytes)
        return;
    throw StoreError(fmt::format(
        "points \"{}\" and \"{}\" have selected different packets: --key {} and {}, --payload {} "
        "and {} (collect again with the same, or leave older runs out with --last)",
        one.point, other.point, uint64_t(one.key), uint64_t(other.key), one.payload_bytes,
        other.payload_bytes));
}

// Of the packets that are read.
int64_t begin_of(const std::vector<Run> &runs, int64_t last_ns)
{
    int64_t end_ns = 0;
    for (const Run &run : runs)
        end_ns = std::max(end_ns, run.last_ns);
    return last_ns > 0 ? end_ns - last_ns : kNoLimit;
}

std::vector<TimeRange> joined(std::vector<TimeRange> ranges)
{
    std::sort(ranges.begin(), ranges.end(),
              [](const TimeRange &a, const TimeRange &b) { return a.first_ns < b.first_ns; });
    std::vector<TimeRange> result;
    for (const TimeRange &range : ranges)
        if (!result.empty() && range.first_ns <= result.back().last_ns)
            result.back().last_ns = std::max(result.back().last_ns, range.last_ns);
        else
            result.push_back(range);
    return result;
}

class Loader
{
public:
    Loader(Store &store, Observations &to) : store_(store), to_(to) {}

    Point load(const std::vector<Run> &runs, int64_t from_ns)
    {
        Point point;
        point.name = runs.front().point;
        std::vector<uint32_t> run_of;
        for (const Run &run : runs) {
            point.has_stopped = !run.is_complete; // runs are in order of their start
            if (run.last_ns < from_ns)
                continue;
            note(run, from_ns, point);
            point.malformed +=
                store_.read(run, from_ns, to_.below, [&](const SelectedPacket &packet) {
                    point.sightings.push_back(
                        {packet.time_ns, packet.digest, number_of(packet.flow), packet.hop_limit});
                    run_of.push_back(uint32_t(point.runs));
                });
            ++point.runs;
        }
        point.covered = joined(std::move(point.covered));
        point.repeated = merge_runs(point.sightings, run_of);
        return point;
    }

private:
    static void note(const Run &run, int64_t from_ns, Point &point)
    {
        point.packets += uint64_t(run.packets);
        point.unread += uint64_t(run.unread);
        point.lost += uint64_t(run.lost + run.no_room + run.malformed);
        point.is_cut |= run.first_ns < from_ns;
        if (run.last_ns > 0)
            point.covered.push_back({std::max(run.first_ns, from_ns), run.last_ns});
    }

    uint32_t number_of(const FlowKey &key)
    {
        const auto [place, is_new] = numbers_.try_emplace(key, uint32_t(to_.flows.size()));
        if (is_new)
            to_.flows.push_back(key);
        return place->second;
    }

    Store &store_;
    Observations &to_;
    std::unordered_map<FlowKey, uint32_t, FlowKeyHash> numbers_;
};

// Of the copies [begin, end) of a packet, keeps those of the run that has most.
template <class Order, class Keep>
void keep_most(const Order &order, size_t begin, size_t end, const std::vector<uint32_t> &runs,
               Keep keep)
{
    std::map<uint32_t, size_t> counts;
    for (size_t i = begin; i < end; ++i)
        ++counts[runs[order[i]]];
    const auto most =
        std::max_element(counts.begin(), counts.end(),
                         [](const auto &a, const auto &b) { return a.second < b.second; });
    for (size_t i = begin; i < end; ++i)
        if (runs[order[i]] == most->first)
            keep(order[i]);
}
} // namespace

double Observations::rate() const
{
    return double(below) / kHashes;
}

uint64_t merge_runs(std::vector<Sighting> &sightings, std::vector<uint32_t> &runs)
{
    std::vector<uint32_t> order(sightings.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return std::pair(sightings[a].digest, sightings[a].time_ns) <
               std::pair(sightings[b].digest, sightings[b].time_ns);
    });
    std::vector<Sighting> kept;
    std::vector<uint32_t> kept_runs;
    kept.reserve(sightings.size());
    for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
        const auto follows = [&](size_t i) {
            const Sighting &one = sightings[order[i - 1]], &next = sightings[order[i]];
            return next.digest == one.digest && next.time_ns - one.time_ns <= kSamePacketNs;
        };
        for (end = begin + 1; end < order.size() && follows(end);)
            ++end;
        keep_most(order, begin, end, runs, [&](uint32_t i) {
            kept.push_back(sightings[i]);
            kept_runs.push_back(runs[i]);
        });
    }
    const uint64_t removed = sightings.size() - kept.size();
    sightings = std::move(kept);
    runs = std::move(kept_runs);
    return removed;
}

Observations load(Store &store, const std::string &from, const std::string &to,
                  const LoadOptions &options)
{
    const std::vector<Run> all = store.runs();
    const std::vector<Run> from_runs = runs_of(all, from), to_runs = runs_of(all, to);
    Observations found;
    found.below = int64_t(kHashes);
    const Run *first = nullptr;
    for (const auto *runs : {&from_runs, &to_runs}) {
        const int64_t from_ns = begin_of(*runs, options.last_ns);
        for (const Run &run : *runs) {
            if (run.last_ns < from_ns)
                continue;
            first = first ? first : &run;
            check_same_hashes(*first, run);
            found.below = std::min(found.below, run.below);
        }
    }
    if (options.below > found.below)
        throw StoreError(fmt::format(
            "--rate: the points have selected only {:.4g} % of the packets", 100 * found.rate()));
    if (options.below > 0)
        found.below = options.below;
    Loader loader(store, found);
    found.from = loader.load(from_runs, begin_of(from_runs, options.last_ns));
    found.to = loader.load(to_runs, begin_of(to_runs, options.last_ns));
    return found;
}
} // namespace qos
