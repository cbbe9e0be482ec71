// SPDX-License-Identifier: MIT
// analyse: the steps in their order.
#include "qos/analyse/analyse.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "common/command/counted.hpp"
#include "qos/analyse/direction.hpp"
#include "qos/analyse/match.hpp"
#include "qos/analyse/passages.hpp"
#include "qos/analyse/reference_clock.hpp"

namespace qos
{
namespace
{
PointSummary summary_of(const Point &point)
{
    PointSummary summary;
    summary.name = point.name;
    summary.runs = point.runs;
    summary.packets = point.packets;
    summary.selected = point.sightings.size();
    summary.unread = point.unread;
    summary.lost = point.lost;
    summary.malformed = point.malformed;
    summary.repeated = point.repeated;
    summary.has_stopped = point.has_stopped;
    summary.is_cut = point.is_cut;
    if (!point.covered.empty()) {
        summary.first_ns = point.covered.front().first_ns;
        summary.last_ns = point.covered.back().last_ns;
    }
    return summary;
}

TimeRange common_range(const Observations &seen, const ClockModel &clock)
{
    if (seen.from.covered.empty() || seen.to.covered.empty())
        return {};
    const std::vector<TimeRange> to = common_ranges(seen.to, true, clock);
    return {std::max(seen.from.covered.front().first_ns, to.front().first_ns),
            std::min(seen.from.covered.back().last_ns, to.back().last_ns)};
}

void measure_flows(const std::vector<Passage> &passages, const Observations &seen, double rate,
                   PathFigures &path)
{
    std::map<uint32_t, std::vector<Passage>> flows;
    for (const Passage &passage : passages)
        flows[passage.flow].push_back(passage);
    for (const auto &[number, list] : flows)
        path.flows.push_back({seen.flows[number], measure(list, rate)});
    std::sort(path.flows.begin(), path.flows.end(), [](const FlowFigures &a, const FlowFigures &b) {
        return std::pair(b.measured.sent, a.flow) < std::pair(a.measured.sent, b.flow);
    });
}

// Intervals begin at whole multiples of their length since 1970, so that those of all reports are
// the same.
void measure_intervals(const std::vector<Passage> &passages, int64_t interval_ns, double rate,
                       PathFigures &path)
{
    std::vector<Passage> list;
    int64_t begin_ns = 0;
    const auto end_interval = [&] {
        if (!list.empty())
            path.intervals.push_back({begin_ns, measure(list, rate)});
        list.clear();
    };
    for (const Passage &passage : passages) {
        const int64_t begins_ns = passage.sent_ns / interval_ns * interval_ns;
        if (begins_ns != begin_ns)
            end_interval();
        begin_ns = begins_ns;
        list.push_back(passage);
    }
    end_interval();
}

std::string time_text(int64_t time_ns)
{
    return fmt::format("{}.{:09}", time_ns / 1000000000, time_ns % 1000000000);
}

void note_point(const PointSummary &point, std::vector<std::string> &notes)
{
    if (point.has_stopped)
        notes.push_back(fmt::format("point {} has stopped, or still runs: its last packets are "
                                    "from {}; packets after that do not count as lost",
                                    point.name, time_text(point.last_ns)));
    if (point.lost > 0)
        notes.push_back(fmt::format(
            "point {} has lost {} itself{}", point.name, command::counted(point.lost, "packet"),
            point.is_cut ? " in the whole run, which began before the time reported"
                         : ": they count as lost on the way, or are missing among "
                           "those sent"));
    if (point.malformed > 0)
        notes.push_back(fmt::format("{} of point {}, left out",
                                    command::counted(point.malformed, "malformed row"),
                                    point.name));
    if (point.repeated > 0)
        notes.push_back(fmt::format("{} of point {} in several runs at the same time, counted once",
                                    command::counted(point.repeated, "packet"), point.name));
    if (point.unread > 0)
        notes.push_back(fmt::format("{} of point {}{} could not be selected: headers truncated or "
                                    "unknown, or fewer bytes captured than the hash covers",
                                    command::counted(point.unread, "packet"), point.name,
                                    point.is_cut ? " in the whole run" : ""));
}
// By the clock of the first point.
class Analysis
{
public:
    // usual: the direction of flows that do not show theirs.
    Analysis(const Observations &seen, const AnalyseOptions &options, Direction usual)
        : seen_(seen), options_(options), matches_(match(seen)), samples_(clock_samples(matches_)),
          directions_(find_directions(
              seen, matches_, samples_,
              {options.is_one_way, options.clock == ClockWish::kUnsynchronised, usual})),
          clock_(find_clock(samples_, directions_, options.clock))
    {
    }

    bool is_second_steadier() const { return qos::is_second_steadier(samples_, clock_); }

    Figures figures() const
    {
        Figures figures;
        figures.rate = seen_.rate();
        figures.from = summary_of(seen_.from);
        figures.to = summary_of(seen_.to);
        figures.clock = clock_;
        figures.common = common_range(seen_, clock_);
        figures.is_direction_assumed = directions_.is_assumed;
        figures.collided_digests = matches_.collided_digests;
        figures.collided_sightings = matches_.collided_sightings;
        figures.expected_collisions = matches_.expected_collisions;
        figures.interval_s = double(options_.interval_ns) / 1e9;
        measure_path(Direction::kForward, figures);
        measure_path(Direction::kBackward, figures);
        return figures;
    }

private:
    void measure_path(Direction direction, Figures &figures) const
    {
        const bool is_forward = direction == Direction::kForward;
        PathFigures &path = is_forward ? figures.forward : figures.backward;
        const Passages passages = find_passages(seen_, matches_, directions_, clock_, direction,
                                                {options_.window_ns, options_.is_all_time});
        path.from = is_forward ? seen_.from.name : seen_.to.name;
        path.to = is_forward ? seen_.to.name : seen_.from.name;
        path.total = measure(passages.list, figures.rate);
        path.only_at_receiver = passages.only_at_receiver;
        path.undecided = passages.undecided;
        figures.ambiguous_packets += passages.ambiguous_packets;
        figures.ambiguous_sightings += passages.ambiguous_sightings;
        measure_flows(passages.list, seen_, figures.rate, path);
        if (options_.interval_ns > 0)
            measure_intervals(passages.list, options_.interval_ns, figures.rate, path);
    }

    const Observations &seen_;
    const AnalyseOptions &options_;
    const Matches matches_;
    const std::vector<ClockSample> samples_;
    const Directions directions_;
    const ClockModel clock_;
};
} // namespace

std::vector<std::string> Figures::notes() const
{
    std::vector<std::string> notes;
    note_point(from, notes);
    note_point(to, notes);
    if (!has_common_time())
        notes.push_back("the points have no common time");
    if (!clock.is_synchronised)
        notes.push_back(clock.has_both_directions
                            ? "the clocks are not synchronised: delays hold up to half of the "
                              "difference between the shortest delays of both directions"
                            : "the clocks are not synchronised: delays are relative to the "
                              "shortest one, and hold up to a constant");
    if (clock.is_by_second)
        notes.push_back(fmt::format("the clock of point {} has steps, as far as can be seen: times "
                                    "are by the clock of point {}",
                                    from.name, to.name));
    for (const ClockStep &step : clock.steps)
        notes.push_back(fmt::format("{} by {:.6f} ms at {}",
                                    clock.has_both_directions
                                        ? "the clocks have changed against each other"
                                        : "the clocks or the route have changed",
                                    step.step_ns / 1e6, time_text(step.time_ns)));
    if (is_direction_assumed)
        notes.push_back(fmt::format("nothing shows the direction of some flows: they are taken to "
                                    "go from {} to {}",
                                    from.name, to.name));
    if (ambiguous_packets > 0)
        notes.push_back(
            fmt::format("{} left out, seen {} in all: the sending point saw several copies within "
                        "the window",
                        command::counted(ambiguous_packets, "packet is", "packets are"),
                        command::counted(ambiguous_sightings, "time")));
    if (collided_digests > 0)
        notes.push_back(fmt::format("{} shared by different packets: left out ({})",
                                    command::counted(collided_digests, "digest is", "digests are"),
                                    command::counted(collided_sightings, "packet")));
    const uint64_t undecided = forward.undecided + backward.undecided;
    if (undecided > 0)
        notes.push_back(fmt::format("{} seen by one point at a time that the other does not cover: "
                                    "neither received nor lost",
                                    command::counted(undecided, "packet was", "packets were")));
    return notes;
}

Figures analyse(const Observations &seen, const AnalyseOptions &options)
{
    const Analysis by_first(seen, options, Direction::kForward);
    if (!by_first.is_second_steadier())
        return by_first.figures();
    const Observations exchanged = {seen.flows, seen.to, seen.from, seen.below};
    Figures figures = Analysis(exchanged, options, Direction::kBackward).figures();
    std::swap(figures.from, figures.to);
    std::swap(figures.forward, figures.backward);
    figures.clock.exchange();
    return figures;
}
} // namespace qos
