// SPDX-License-Identifier: MIT
// measure: scenarios -> rows, one after another.
#include "measure.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "results.hpp"

namespace mapi_cost
{
namespace
{
constexpr unsigned kFurtherFlows = 8;

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

Measurement::Measurement(Results &results, MakePass make_pass, bool wants_instructions)
    : results_(results), make_pass_(std::move(make_pass)), wants_instructions_(wants_instructions)
{
}

const Pass &Measurement::pass(const Scenario &scenario, unsigned flows, Field field)
{
    const std::string key = key_of(scenario, flows, field);
    if (const auto found = passes_.find(key); found != passes_.end())
        return found->second;
    Pass made = make_pass_(scenario, flows, field);
    take_report(made.sums, field);
    if (made.arrivals)
        take_arrivals(*made.arrivals, field);
    if (!made.remark.empty())
        results_.notes.push_back(
            fmt::format("{} ({}): {}.", scenario.name, scenario.id, made.remark));
    return passes_.emplace(key, std::move(made)).first->second;
}

void Measurement::take_report(const TraceSums &sums, Field field)
{
    const nsdump::StatsReport &report = sums.report;
    Totals &totals = results_.totals;
    ++totals.sessions;
    totals.issued += report.losses.issued;
    totals.drained += report.losses.drained;
    for (size_t i = 0; i < totals.lost.size(); ++i)
        totals.lost[i] += report.losses.lost[i];
    totals.equation_holds &= report.losses.equation_holds.value_or(false);
    totals.units_left_out += sums.units_left_out;
    for (const auto &unit : report.units)
        totals.units += unit.units;
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
    for (const Block &block : sums.blocks) {
        raw_cycles_ += block.raw;
        net_cycles_ += block.net;
    }
    probe.raw_share = raw_cycles_ > 0 ? (raw_cycles_ - net_cycles_) / raw_cycles_ : 0;
    const uint64_t time_passes =
        uint64_t(std::count_if(passes_.begin(), passes_.end(),
                               [](const auto &item) { return item.first.back() == '0'; })) +
        1;
    move_mean(probe.inner_ticks, mean_of(report.calibration_start, true), time_passes);
    move_mean(probe.outer_ticks, mean_of(report.calibration_start, false), time_passes);
    move_mean(probe.inner_end_ticks, mean_of(report.calibration_end, true), time_passes);
    move_mean(probe.outer_end_ticks, mean_of(report.calibration_end, false), time_passes);
}

void Measurement::take_arrivals(const Arrivals &arrivals, Field field)
{
    LiveArrivals &live = *results_.live;
    (field == Field::kTicks ? live.timed : live.counted).add(arrivals);
    results_.survey.packets = live.timed.packets;
    results_.survey.wire_bytes = live.timed.wire_bytes;
}

void Measurement::measure_plain(Row &row, Field field)
{
    const Scenario &scenario = row.scenario;
    const Pass &done = pass(scenario, 1, field);
    row.bytes = done.bytes;
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
    const Cost cycles = trimmed_cost(done.sums);
    row.cycles = cycles.whole;
    add_parts(row, cycles, field);
    if (!scenario.is_call())
        row.rates = rates_of(row.cycles->net, results_.clock.hz, scenario.frame_bytes);
}

void Measurement::measure_further(Row &row, Field field)
{
    const Pass &one = pass(row.scenario, 1, field);
    const Pass &many = pass(row.scenario, 1 + kFurtherFlows, field);
    row.bytes = one.bytes;
    const bool is_time = field == Field::kTicks;
    (is_time ? row.reach : row.counted_reach) = many.reach;
    if (is_time)
        row.lost_copies = one.lost_copies + many.lost_copies;
    (is_time ? row.cycles : row.instructions) =
        further_cost(one.sums, many.sums, kFurtherFlows, is_time);
}

void Measurement::measure(const Scenario &scenario)
{
    Row row;
    row.scenario = scenario;
    for (const Field field : {Field::kTicks, Field::kInstructions}) {
        if (field == Field::kInstructions && !wants_instructions_)
            continue;
        const std::string what = field == Field::kTicks ? "cycles" : "instructions";
        try {
            scenario.is_further() ? measure_further(row, field) : measure_plain(row, field);
            if (!(field == Field::kTicks ? row.cycles : row.instructions)->ci95)
                add_missing(row, "interval of " + what, why_no_interval(scenario, results_));
        } catch (const NothingMeasured &error) { // continue with the others
            add_missing(row, what, why_missing(scenario, results_, error));
        }
    }
    if (!row.missing.empty())
        results_.notes.push_back(
            fmt::format("{} ({}): {}.", scenario.name, scenario.id, row.missing));
    results_.rows.push_back(std::move(row));
}
} // namespace mapi_cost
