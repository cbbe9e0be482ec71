// SPDX-License-Identifier: MIT
// measure: scenarios -> rows, one after another.
#include "measure.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <fmt/format.h>

#include "results.hpp"

namespace mapi_cost
{
namespace
{
constexpr unsigned kFurtherFlows = 8;
constexpr size_t kLeastTimedPasses = 2; // for an interval that has their spread

double mean_of(const std::vector<nsdump::CalibrationRow> &rows, bool is_inner)
{
    double sum = 0;
    double count = 0;
    for (const auto &row : rows) {
        if (row.probe != nsdump::kPair || row.field != 0)
            continue;
        sum += is_inner ? row.inner : row.outer;
        ++count;
    }
    return count > 0 ? sum / count : 0;
}

void move_mean(double &mean, double value, uint64_t count)
{
    mean += (value - mean) / double(count);
}

// The same load has the same key; rows of different tables may share a pass.
std::string key_of(const Scenario &scenario, unsigned flows, Field field)
{
    std::string key =
        std::to_string(int(scenario.traffic)) + "/" + std::to_string(scenario.frame_bytes) + "/";
    for (const Function function : scenario.functions)
        key += std::to_string(int(function)) + "+";
    if (!scenario.own.empty())
        key += scenario.id;
    if (scenario.is_call())
        key += "call";
    if (scenario.is_further() && field == Field::kInstructions)
        key += "compared"; // counts different units
    if (flows > 1 && scenario.quantity == Quantity::kFurtherDifferent)
        key += "different";
    return key + "/" + std::to_string(flows) + "/" + std::to_string(int(field));
}

// Only the clock ticks of a START/STOP pair, which are in every slice.
void note_drift(Totals &totals, const std::vector<nsdump::Drift> &drifts)
{
    bool is_significant = false;
    for (const nsdump::Drift &drift : drifts) {
        if (drift.probe != nsdump::kPair || drift.field != 0)
            continue;
        is_significant |= drift.is_significant;
        if (!drift.is_inner && drift.start > 0)
            totals.largest_drift_share =
                std::max(totals.largest_drift_share, std::fabs(drift.end / drift.start - 1));
    }
    ++totals.timed_sessions;
    totals.drifts += is_significant;
}

void add_parts(Row &row, const Cost &cost, Field field)
{
    for (const PartCost &part : cost.parts) {
        auto found = std::find_if(row.parts.begin(), row.parts.end(),
                                  [&](const RowPart &known) { return known.name == part.name; });
        if (found == row.parts.end())
            found = row.parts.insert(row.parts.end(), {part.name, {}, {}, part.is_counted});
        (field == Field::kTicks ? found->cycles : found->instructions) = part.net;
    }
}

// Both figures are nearly always missing for the same reason.
void add_missing(Row &row, const std::string &what, const std::string &why)
{
    if (row.missing.empty())
        row.missing = fmt::format("no {}: {}", what, why);
    else
        row.missing +=
            fmt::format("; no {}{}", what, row.missing.ends_with(why) ? " either" : ": " + why);
}
} // namespace

Measurement::Measurement(Results &results, Runner runner, bool wants_instructions)
    : results_(results), runner_(std::move(runner)), wants_instructions_(wants_instructions)
{
}

std::vector<Measurement::Group> Measurement::groups_of(const std::vector<Scenario> &scenarios)
{
    std::vector<Group> groups;
    std::map<std::string, size_t> places; // by the key of the group's first load
    std::set<std::string> known;
    for (const Scenario &scenario : scenarios) {
        if (scenario.is_call())
            continue;
        const std::string one = key_of(scenario, 1, Field::kTicks);
        const auto [place, is_new] = places.try_emplace(one, groups.size());
        if (is_new)
            groups.push_back({{scenario, 1}});
        if (scenario.is_further() &&
            known.insert(key_of(scenario, 1 + kFurtherFlows, Field::kTicks)).second)
            groups[place->second].push_back({scenario, 1 + kFurtherFlows});
    }
    return groups;
}

void Measurement::thin(LoadRequest &load)
{
    const nsdump::StatsReport report = runner_.thin(load);
    take_losses(report);
    load.inside = inside_factors(report, kPacketSlices);
    for (const auto &[slice, factor] : load.inside)
        results_.inside_factors.push_back({load.scenario.id, load.flows, slice, factor});
    if (const auto cost = program_cost(report))
        results_.program_costs.push_back(*cost);
}

void Measurement::time(const std::vector<Scenario> &scenarios, const Progress &progress)
{
    if (!runner_.time)
        return;
    std::vector<Group> groups = groups_of(scenarios);
    for (Group &group : groups)
        for (LoadRequest &load : group) {
            if (!runner_.thin || (load.scenario.functions.empty() && load.scenario.own.empty()))
                continue;
            progress("random thinning: " + load.scenario.name);
            thin(load);
        }
    for (unsigned pass = 1; !groups.empty() && pass <= kTimedPasses; ++pass) {
        progress(fmt::format("time, pass {} of {}", pass, kTimedPasses));
        time_once(groups);
    }
}

void Measurement::time_once(std::vector<Group> &groups)
{
    std::shuffle(groups.begin(), groups.end(), random_);
    std::vector<LoadRequest> loads;
    for (Group &group : groups) {
        std::shuffle(group.begin(), group.end(), random_);
        loads.insert(loads.end(), group.begin(), group.end());
    }
    std::vector<Pass> passes = runner_.time(loads);
    for (size_t i = 0; i < loads.size(); ++i) {
        Pass &pass = passes[i];
        Timed &timed = timed_[key_of(loads[i].scenario, loads[i].flows, Field::kTicks)];
        take_sums(pass.sums, Field::kTicks);
        timed.units_left_out += pass.sums.units_left_out;
        try {
            timed.costs.emplace_back(trimmed_cost(pass.sums));
        } catch (const NothingMeasured &) {
            timed.costs.emplace_back();
        }
        if (i == 0)
            take_report(pass.sums.report, Field::kTicks);
        pass.sums = {};
        if (timed.costs.size() == 1)
            timed.first = std::move(pass);
    }
}

const Pass &Measurement::pass(const Scenario &scenario, unsigned flows, Field field)
{
    const std::string key = key_of(scenario, flows, field);
    if (const auto found = passes_.find(key); found != passes_.end())
        return found->second;
    Pass made = runner_.run(scenario, flows, field);
    take_sums(made.sums, field);
    take_report(made.sums.report, field);
    if (made.arrivals)
        take_arrivals(*made.arrivals, field);
    if (!made.remark.empty())
        results_.notes.push_back(
            fmt::format("{} ({}): {}.", scenario.name, scenario.id, made.remark));
    return passes_.emplace(key, std::move(made)).first->second;
}

void Measurement::take_losses(const nsdump::StatsReport &report)
{
    Totals &totals = results_.totals;
    ++totals.sessions;
    totals.issued += report.losses.issued;
    totals.drained += report.losses.drained;
    for (size_t i = 0; i < totals.lost.size(); ++i)
        totals.lost[i] += report.losses.lost[i];
    totals.equation_holds &= report.losses.equation_holds.value_or(false);
    for (const auto &unit : report.units)
        totals.units += unit.units;
}

void Measurement::take_sums(const TraceSums &sums, Field field)
{
    results_.totals.units_left_out += sums.units_left_out;
    if (field == Field::kInstructions)
        return;
    for (const Block &block : sums.blocks) {
        raw_cycles_ += block.raw;
        net_cycles_ += block.net;
    }
    results_.probe.raw_share = raw_cycles_ > 0 ? (raw_cycles_ - net_cycles_) / raw_cycles_ : 0;
}

void Measurement::take_report(const nsdump::StatsReport &report, Field field)
{
    take_losses(report);
    Totals &totals = results_.totals;
    const auto info = [&](const char *name) {
        const auto found = report.info.find(name);
        return found == report.info.end() ? std::string() : found->second;
    };
    results_.cpu = info("machine.cpu");
    results_.kernel = info("machine.kernel");
    results_.virtualised = info("machine.virtualised");
    if (field == Field::kInstructions) {
        results_.instruction_source = report.counter_source;
        return; // ticks are meaningless under single-stepping, even those of a calibration
    }
    note_drift(totals, report.drift);
    if (results_.clock.hz == 0)
        results_.clock = report.clock;
    ProbeCost &probe = results_.probe;
    move_mean(probe.inner_ticks, mean_of(report.calibration_start, true), totals.timed_sessions);
    move_mean(probe.outer_ticks, mean_of(report.calibration_start, false), totals.timed_sessions);
    move_mean(probe.inner_end_ticks, mean_of(report.calibration_end, true), totals.timed_sessions);
    move_mean(probe.outer_end_ticks, mean_of(report.calibration_end, false), totals.timed_sessions);
}

void Measurement::take_arrivals(const Arrivals &arrivals, Field field)
{
    LiveArrivals &live = *results_.live;
    (field == Field::kTicks ? live.timed : live.counted).add(arrivals);
    results_.survey.packets = live.timed.packets;
    results_.survey.wire_bytes = live.timed.wire_bytes;
}

// Throws NothingMeasured.
std::vector<Cost> Measurement::costs_of(const Timed &timed) const
{
    std::vector<Cost> costs;
    for (const std::optional<Cost> &cost : timed.costs)
        if (cost)
            costs.push_back(*cost);
    if (costs.empty())
        throw NothingMeasured(timed.units_left_out);
    return costs;
}

void Measurement::set_cycles(Row &row, const Cost &cycles) const
{
    row.cycles = cycles.whole;
    add_parts(row, cycles, Field::kTicks);
    if (!row.scenario.is_call())
        row.rates = rates_of(row.cycles->net, results_.clock.hz, row.scenario.frame_bytes);
}

void Measurement::measure_plain(Row &row, Field field)
{
    const Scenario &scenario = row.scenario;
    const auto timed = timed_.find(key_of(scenario, 1, field));
    const Pass &done = timed == timed_.end() ? pass(scenario, 1, field) : timed->second.first;
    row.bytes = done.bytes;
    row.batch_share = done.batch_share;
    (field == Field::kTicks ? row.arrivals.timed : row.arrivals.counted) =
        done.arrivals.value_or(Arrivals{});
    if (field == Field::kInstructions) {
        row.counted_reach = done.reach;
        const Cost instructions = mean_cost(done.sums);
        row.instructions = instructions.whole;
        add_parts(row, instructions, field);
        return;
    }
    row.reach = done.reach;
    row.lost_copies = done.lost_copies;
    set_cycles(row, timed == timed_.end() ? trimmed_cost(done.sums)
                                          : cost_of_passes(costs_of(timed->second)));
}

void Measurement::measure_further(Row &row, Field field)
{
    if (field == Field::kInstructions) {
        const Pass &one = pass(row.scenario, 1, field);
        const Pass &many = pass(row.scenario, 1 + kFurtherFlows, field);
        row.bytes = one.bytes;
        row.counted_reach = many.reach;
        row.instructions = further_counts(one.sums, many.sums, kFurtherFlows);
        return;
    }
    const Timed &one = timed_.at(key_of(row.scenario, 1, field));
    const Timed &many = timed_.at(key_of(row.scenario, 1 + kFurtherFlows, field));
    row.bytes = one.first.bytes;
    row.reach = many.first.reach;
    row.lost_copies = one.first.lost_copies + many.first.lost_copies;
    std::vector<Cost> ones, manys;
    for (size_t i = 0; i < one.costs.size(); ++i)
        if (one.costs[i] && many.costs[i]) {
            ones.push_back(*one.costs[i]);
            manys.push_back(*many.costs[i]);
        }
    if (ones.empty())
        throw NothingMeasured(one.units_left_out + many.units_left_out);
    row.cycles = further_of_passes(ones, manys, kFurtherFlows);
}

void Measurement::measure_field(Row &row, Field field)
{
    const Scenario &scenario = row.scenario;
    const std::string what = field == Field::kTicks ? "cycles" : "instructions";
    try {
        scenario.is_further() ? measure_further(row, field) : measure_plain(row, field);
        if (!(field == Field::kTicks ? row.cycles : row.instructions)->ci95)
            add_missing(row, "interval of " + what, why_no_interval(scenario, results_));
    } catch (const NothingMeasured &error) { // continue with the others
        add_missing(row, what, why_missing(scenario, results_, error));
    }
}

void Measurement::append(Row row)
{
    if (!row.missing.empty())
        results_.notes.push_back(
            fmt::format("{} ({}): {}.", row.scenario.name, row.scenario.id, row.missing));
    if (row.scenario.quantity == Quantity::kReadResults && row.instructions &&
        results_.instruction_source == "step")
        results_.notes.push_back(
            fmt::format("{} ({}): single-stepped calls are so slow that many of them look at the "
                        "kernel's clock, which a reader otherwise does every 1 to 2 ms: at full "
                        "speed, a call takes fewer instructions.",
                        row.scenario.name, row.scenario.id));
    (row.scenario.table == kModelTable ? results_.companions : results_.rows)
        .push_back(std::move(row));
}

void Measurement::measure(const Scenario &scenario)
{
    Row row;
    row.scenario = scenario;
    measure_field(row, Field::kTicks);
    if (wants_instructions_)
        measure_field(row, Field::kInstructions);
    append(std::move(row));
}

void Measurement::measure_timed_only(const Scenario &scenario, const std::string &why)
{
    const auto is_timed = [&](unsigned flows) {
        const auto timed = timed_.find(key_of(scenario, flows, Field::kTicks));
        return timed != timed_.end() && timed->second.costs.size() >= kLeastTimedPasses;
    };
    if (!is_timed(1) || (scenario.is_further() && !is_timed(1 + kFurtherFlows)))
        return;
    Row row;
    row.scenario = scenario;
    measure_field(row, Field::kTicks);
    if (wants_instructions_) {
        add_missing(row, "instructions", why);
        if (results_.instruction_source.empty())
            results_.no_instructions_why = why;
    }
    append(std::move(row));
}
} // namespace mapi_cost
