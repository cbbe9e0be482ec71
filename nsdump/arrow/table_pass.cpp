// SPDX-License-Identifier: MIT
// arrow: a trace -> batches of several tables, in one reading.
#include "arrow/table_pass.hpp"

#include <fmt/format.h>

#include "analyse/losses.hpp"
#include "analyse/pauses.hpp"

namespace nsdump::arrow
{
namespace
{
bool is_wanted(const PassOptions &options, TableKind kind)
{
    return options.tables[size_t(kind)];
}

std::optional<ReadPlan> plan_of(const PassOptions &options, const Clock &clock, uint64_t zero_ticks)
{
    if (!options.from_ns && !options.to_ns)
        return std::nullopt;
    if (!NsClock::is_known(clock))
        throw std::invalid_argument("the rate of the trace's clock is unknown, so there are no "
                                    "times in it (omit from_ns and to_ns)");
    if (options.to_ns.value_or(0) < 0)
        throw std::invalid_argument("to_ns is before the session's start");
    TickRange range;
    if (options.from_ns)
        range.from_ticks = ticks_at(double(*options.from_ns), clock, zero_ticks);
    if (options.to_ns)
        range.to_ticks = ticks_at(double(*options.to_ns), clock, zero_ticks);
    if (range.is_empty())
        throw std::invalid_argument("from_ns is after to_ns");
    return ReadPlan(range, ticks_in(kLeadInNs, clock));
}

Order order_of(const PassOptions &options, const std::optional<ReadPlan> &plan,
               const TraceFile &trace)
{
    return plan || is_wanted(options, TableKind::events) ? Order::kTime : pairing_order(trace);
}
} // namespace

TablePass::TablePass(std::unique_ptr<ByteSource> source, PassOptions options)
    : trace_(std::move(source)), options_(std::move(options)),
      is_selective_(!options_.slice.empty() || options_.unit ||
                    options_.limit != std::numeric_limits<uint64_t>::max()),
      clock_(clock_of(trace_)), zero_ticks_(zero_ticks_of(trace_, clock_)),
      plan_(plan_of(options_, clock_, zero_ticks_)),
      selection_(trace_.names(), options_.unit, options_.slice),
      correction_(trace_, options_.calibration ? &*options_.calibration : nullptr),
      dictionary_(trace_.names()), gate_(plan_ ? plan_->selected().from_ticks : 0),
      pairs_(trace_, programs_in_range_, kernel_in_range_),
      merger_(trace_, order_of(options_, plan_, trace_), plan_)
{
    const NsClock clock(clock_, zero_ticks_);
    if (is_wanted(options_, TableKind::slices))
        slices_.emplace(trace_, clock, correction_);
    if (is_wanted(options_, TableKind::units))
        units_.emplace(clock);
    if (is_wanted(options_, TableKind::events))
        events_.emplace(clock);
    if (is_wanted(options_, TableKind::losses))
        losses_.emplace(trace_, clock);
}

Metadata TablePass::metadata(TableKind kind) const
{
    Metadata all = {{"netslice.schema", "netslice-arrow-1"},
                    {"netslice.clock.source", clock_.source},
                    {"netslice.clock.mode", clock_.mode},
                    {"netslice.clock.start_ticks", fmt::format("{}", zero_ticks_)}};
    if (NsClock::is_known(clock_))
        all.emplace_back("netslice.clock.hz", fmt::format("{}", clock_.hz));
    if (const int64_t start_ns = start_unix_ns(trace_); start_ns > 0)
        all.emplace_back("netslice.start_unix_ns", fmt::format("{}", start_ns));
    if (options_.from_ns && kind != TableKind::losses)
        all.emplace_back("netslice.range.from_ns", fmt::format("{}", *options_.from_ns));
    if (options_.to_ns && kind != TableKind::losses)
        all.emplace_back("netslice.range.to_ns", fmt::format("{}", *options_.to_ns));
    add_losses(all);
    return all;
}

// Of the whole recording.
void TablePass::add_losses(Metadata &all) const
{
    const Losses losses = losses_of(trace_, false);
    for (size_t cause = 0; cause < kLostCauses; ++cause)
        all.emplace_back(fmt::format("netslice.lost.{}", lost_name(cause)),
                         fmt::format("{}", losses.lost[cause]));
    all.emplace_back("netslice.lost.unknown",
                     fmt::format("{}", losses.lost_other + losses.lost_without_cause));
    all.emplace_back("netslice.drained", fmt::format("{}", losses.drained));
    if (losses.is_issued_known())
        all.emplace_back("netslice.issued", fmt::format("{}", losses.issued));
    if (const Pauses pauses = pauses_of(trace_); pauses.count > 0) {
        all.emplace_back("netslice.paused_records", fmt::format("{}", pauses.left_out));
        if (pauses.ns)
            all.emplace_back("netslice.paused_ns", fmt::format("{}", *pauses.ns));
    }
}

Table *TablePass::table(TableKind kind)
{
    switch (kind) {
    case TableKind::slices: return slices_ ? &*slices_ : nullptr;
    case TableKind::units: return units_ ? &*units_ : nullptr;
    case TableKind::losses: return losses_ ? &*losses_ : nullptr;
    case TableKind::events: return events_ ? &*events_ : nullptr;
    }
    return nullptr;
}

void TablePass::export_schema(TableKind kind, ArrowSchema *out)
{
    if (const Table *of = table(kind))
        arrow::export_schema(of->columns(), metadata(kind), out);
    else
        throw std::invalid_argument("the table is not one of those to make");
}

Findings TablePass::findings()
{
    Findings findings =
        findings_of(trace_, merger_.faults(), merger_.is_over() && !merger_.has_plan(), false);
    if (merger_.has_plan() && unmatched_stops_ > 0)
        findings.lines.insert(findings.lines.begin(), unmatched_words(unmatched_stops_));
    if (const std::string warning = foreign_threads_warning(trace_); pairs() && !warning.empty())
        findings.lines.insert(findings.lines.begin(), warning);
    return findings;
}

bool TablePass::selects(NameId name, const Unit *unit) const
{
    return slice_rows_ < options_.limit && selection_.has(name, unit);
}

void TablePass::add_unit(const Unit &unit, bool is_kernel)
{
    if (units_ && selection_.is_in_unit(&unit))
        units_->add(unit, is_kernel);
}

void TablePass::add_events(const Run &run)
{
    for (const Event &event : run.events) {
        const EventSelection::Seen seen = selection_.see(run, event);
        if (!seen.is_selected || run.is_lead_in) // units may begin in the lead-in
            continue;
        if (event_rows_ >= options_.limit)
            break;
        ++event_rows_;
        events_->add(event, seen.name, seen.is_kernel);
    }
}

// Whether no more rows are to be made of records.
bool TablePass::is_full() const
{
    return (!pairs() || slice_rows_ >= options_.limit) &&
           (!events_ || event_rows_ >= options_.limit);
}

// False at the end.
bool TablePass::read_run()
{
    Run run;
    if (is_full() || !merger_.next(run))
        return false;
    gate_.note(run);
    if (pairs())
        pairs_.consume(run);
    if (events_)
        add_events(run);
    return true;
}

void TablePass::do_some_work()
{
    constexpr int kRunsAtOnce = 256;
    if (state_ == State::losses && (!losses_ || !losses_->read_more()))
        state_ = State::rest;
    if (state_ != State::records)
        return;
    const bool has_records = pairs() || events_;
    for (int i = 0; i < kRunsAtOnce; ++i)
        if (!has_records || !read_run()) {
            pairs_.finish();
            state_ = State::losses;
            return;
        }
}

void TablePass::export_rows(Table &table, ArrowArray *out)
{
    export_batch(table.take(), table.columns(), dictionary_.texts(), out);
}

bool TablePass::take_batch(bool is_at_end, TableKind &kind, ArrowArray *out)
{
    for (size_t i = 0; i < kTableKinds; ++i) {
        Table *const of = table(TableKind(i));
        if (!of || !(of->has_full_batch() || (is_at_end && of->has_rows())))
            continue;
        kind = TableKind(i);
        export_rows(*of, out);
        return true;
    }
    return false;
}

TablePass::Next TablePass::next(TableKind &kind, ArrowArray *out)
{
    if (take_batch(state_ == State::rest, kind, out))
        return Next::batch;
    if (state_ == State::rest)
        return Next::end;
    do_some_work();
    return take_batch(false, kind, out) ? Next::batch : Next::nothing_yet;
}

TablePass::Next TablePass::next_rows(TableKind kind, ArrowArray *out)
{
    constexpr int kTries = 64;
    for (int i = 0; i < kTries; ++i)
        if (const Next got = next(kind, out); got != Next::nothing_yet)
            return got;
    export_rows(*table(kind), out);
    return Next::batch;
}
} // namespace nsdump::arrow
