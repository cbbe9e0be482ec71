// SPDX-License-Identifier: MIT
// analyse: events of programs -> slices that lie in one epoch each, in cells by what was off.
#include "analyse/thinning/collector.hpp"

#include <algorithm>

namespace nsdump
{
ThinningCollector::ThinningCollector(TraceFile &trace, const EpochTable &epochs, const Clock &clock,
                                     double close_ticks)
    : trace_(trace), epochs_(epochs),
      margin_ticks_(uint64_t(kMarginSeconds * (clock.hz > 0 ? clock.hz : 1e9))),
      close_ticks_(close_ticks), step_(clock.step_ticks),
      is_stepping_(trace.info("counters.source") == "step"),
      kernel_indices_(trace.kernel_indices()), kernel_records_(trace.cpus().size())
{
}

void ThinningCollector::consume(const Run &run)
{
    if (run.is_kernel) {
        kernel_records_[run.cpu_index] += run.events.size();
        return;
    }
    // A thread may have written on the CPU of the loss and come back unseen, so slices that are
    // open on any CPU are left out.
    losses_ += run.is_after_loss || run.is_kernel_unseen;
    for (const Event &event : run.events)
        take(run, event);
}

ThinningCollector::Thread &ThinningCollector::thread_at(const Run &run, const Event &event)
{
    if (threads_.size() == kMaxThreads && !threads_.contains(event.thread_id))
        threads_.clear();
    const auto [place, is_new] = threads_.try_emplace(event.thread_id);
    Thread &thread = place->second;
    if (is_new)
        thread.cpu_index = run.cpu_index;
    if (thread.cpu_index != run.cpu_index) {
        thread.cpu_index = run.cpu_index;
        ++thread.moves;
    }
    return thread;
}

void ThinningCollector::take(const Run &run, const Event &event)
{
    Thread &thread = thread_at(run, event);
    const NameId name = trace_.names().of_slice(event.slice_id);
    Open *const around = thread.depth > 0 ? &thread.open[thread.depth - 1] : nullptr;
    switch (event.kind) {
    case NSLICE_KIND_START:
        note_distance(thread, event, name);
        start(thread, run, event, name);
        thread.ticks = event.ticks;
        break;
    case NSLICE_KIND_STOP:
        stop(thread, event, name);
        thread.ticks = event.ticks;
        break;
    case NSLICE_KIND_MARK:
        note_epoch(thread, event, name);
        if (around)
            add_inside(*around, {name, 0, 1, 0});
        break;
    case NSLICE_KIND_INIT:
        if (around)
            ++around->slice.inits;
        unit(event, name, thread.epoch);
        break;
    default:
        if (around)
            ++around->slice.exits;
        break;
    }
}

void ThinningCollector::note_distance(const Thread &thread, const Event &event, NameId name)
{
    Starts &starts = cells_at(name).starts;
    ++starts.count;
    const double distance = double(event.ticks) - double(thread.ticks);
    if (thread.ticks == 0 || distance < 0 || distance > close_ticks_)
        return;
    ++starts.close;
    starts.close_ticks += distance;
}

// The epoch of a record whose probe can be off.
uint32_t ThinningCollector::note_epoch(Thread &thread, const Event &event, NameId name)
{
    thread.slice_id = event.slice_id;
    const uint32_t epoch = epochs_.find(event.slice_id, event.ticks, thread.epoch);
    if (epoch == EpochTable::kNone)
        return epoch;
    const bool is_first = thread.epoch != epoch;
    thread.epoch = epoch;
    if (epochs_.is_name_off(epoch, name))
        note_off_record(thread, event, epoch, is_first);
    return epoch;
}

// A thread that was preempted inside a probe writes one record after the probe was switched off,
// however late: its first one in the epoch.  One that writes more is not switched at all.
void ThinningCollector::note_off_record(Thread &thread, const Event &event, uint32_t epoch,
                                        bool is_first)
{
    for (size_t i = 0; i < thread.depth; ++i)
        thread.open[i].has_off_record = true;
    const EpochTable::Span &span = epochs_[epoch];
    const bool is_well_inside = event.ticks - span.begin_ticks >= margin_ticks_ &&
                                span.end_ticks - event.ticks >= margin_ticks_;
    if (thread.is_trusted && is_well_inside && !is_first &&
        epochs_.is_id_off(epoch, event.slice_id)) {
        thread.is_trusted = false;
        ++distrusted_;
    }
}

void ThinningCollector::start(Thread &thread, const Run &run, const Event &event, NameId name)
{
    if (thread.depth == kMaxDepth) // STARTs whose STOPs were off, from epochs long ago
        thread.depth = 0;
    if (thread.depth == thread.open.size())
        thread.open.emplace_back();
    Open &open = thread.open[thread.depth++];
    std::vector<InsideCount> inside = std::move(open.slice.inside);
    inside.clear();
    open = {};
    open.slice.inside = std::move(inside);
    open.name = name;
    open.start_ticks = event.ticks;
    open.cpu_index = open.slice.cpu_index = run.cpu_index;
    open.moves = thread.moves;
    open.losses = losses_;
    open.is_stepped = is_stepping_ && event.word_count > 0;
    if (!kernel_indices_.empty())
        open.kernel_records = kernel_records_[kernel_indices_[run.cpu_index]];
    open.epoch = note_epoch(thread, event, name);
}

void ThinningCollector::stop(Thread &thread, const Event &event, NameId name)
{
    const uint32_t epoch = note_epoch(thread, event, name);
    size_t depth = thread.depth;
    while (depth > 0 && thread.open[depth - 1].name != name)
        --depth;
    // A STOP without START, or a START inside without STOP, belongs to every slice around it.
    if (depth != thread.depth)
        for (size_t i = 0; i < (depth > 0 ? depth : thread.depth); ++i)
            thread.open[i].is_nested = false;
    if (depth == 0)
        return;
    thread.depth = depth - 1;
    Open &open = thread.open[depth - 1];
    NameCells &cells = cells_at(name);
    const LeftOut why = verdict(thread, open, event, epoch);
    // A START and a STOP of different epochs need not belong together.
    if (open.is_nested && open.epoch == epoch &&
        (epoch != EpochTable::kNone || epochs_.size() == 0))
        note_nested(cells, open);
    if (why == LeftOut::kCount) {
        open.slice.raw = double(event.ticks - open.start_ticks);
        open.slice.epoch = epoch;
        accept(cells, open.slice);
    } else {
        ++cells.left_out[size_t(why)];
    }
    give_to_parent(thread, open);
}

// kCount if the slice is accepted.
LeftOut ThinningCollector::verdict(const Thread &thread, const Open &open, const Event &event,
                                   uint32_t epoch) const
{
    if (!thread.is_trusted)
        return LeftOut::kThread;
    if (open.epoch != epoch)
        return LeftOut::kStraddling;
    if (epoch == EpochTable::kNone)
        return LeftOut::kOutside;
    if (!open.is_nested || event.ticks < open.start_ticks)
        return LeftOut::kNotNested;
    if (open.losses != losses_)
        return LeftOut::kLoss;
    if (open.moves != thread.moves)
        return LeftOut::kMigrated;
    if (!kernel_indices_.empty() &&
        open.kernel_records != kernel_records_[kernel_indices_[open.cpu_index]])
        return LeftOut::kKernel;
    if (open.is_stepped)
        return LeftOut::kStepped;
    if (open.has_off_record)
        return LeftOut::kOff;
    return open.has_too_many ? LeftOut::kTooMany : LeftOut::kCount;
}

void ThinningCollector::note_nested(NameCells &cells, const Open &open)
{
    ++cells.nested;
    CpuSum &cpu = sum_of_cpu(cells.cpus, open.cpu_index);
    ++cpu.slices;
    cpu.inits += open.slice.inits;
    cpu.exits += open.slice.exits;
    for (const InsideCount &one : open.slice.inside) {
        if (cells.inside.size() >= kMaxInside && !find_sum(cells.inside, one.name))
            continue;
        InsideSum &sum = sum_of(cells.inside, one.name);
        sum.pairs += one.pairs;
        sum.marks += one.marks;
        sum.direct += one.direct;
    }
}

void ThinningCollector::accept(NameCells &cells, const ThinnedSlice &slice)
{
    if (cells.accepted++ == 0)
        cells.reference = slice.raw;
    const uint32_t set = epochs_[slice.epoch].set;
    if (set >= cells.cells.size())
        cells.cells.resize(set + 1);
    if (!cells.cells[set])
        cells.cells[set] = std::make_unique<Cell>(cells.reference, step_);
    cells.cells[set]->add(slice);
}

void ThinningCollector::give_to_parent(Thread &thread, const Open &open)
{
    if (thread.depth == 0)
        return;
    Open &parent = thread.open[thread.depth - 1];
    parent.has_too_many |= open.has_too_many;
    parent.slice.inits += open.slice.inits;
    parent.slice.exits += open.slice.exits;
    add_inside(parent, {open.name, 1, 0, 1});
    for (InsideCount one : open.slice.inside) {
        one.direct = 0;
        add_inside(parent, one);
    }
}

void ThinningCollector::add_inside(Open &open, const InsideCount &what)
{
    for (InsideCount &one : open.slice.inside)
        if (one.name == what.name) {
            one.pairs += what.pairs;
            one.marks += what.marks;
            one.direct += what.direct;
            return;
        }
    if (open.slice.inside.size() < kMaxInside)
        open.slice.inside.push_back(what);
    else
        open.has_too_many = true;
}

void ThinningCollector::unit(const Event &event, NameId name, uint32_t hint)
{
    const uint32_t epoch = epochs_.find(event.slice_id, event.ticks, hint);
    if (epoch == EpochTable::kNone)
        return;
    if (name >= units_.size())
        units_.resize(name + 1);
    if (!units_[name])
        units_[name] = std::make_unique<UnitEpochs>();
    UnitEpochs &units = *units_[name];
    if (units.epochs.empty() || units.epochs.back().epoch != epoch) {
        const auto place =
            std::lower_bound(units.epochs.begin(), units.epochs.end(), epoch,
                             [](const Cluster &one, uint32_t at) { return one.epoch < at; });
        if (place == units.epochs.end() || place->epoch != epoch)
            units.epochs.insert(place, {epoch, 0, 0})->sum = 1;
        else
            ++place->sum;
    } else {
        ++units.epochs.back().sum;
    }
    const EpochTable::Range range = epochs_.range_of(event.slice_id);
    if (std::none_of(units.processes.begin(), units.processes.end(),
                     [&](const EpochTable::Range &one) { return one.begin == range.begin; }))
        units.processes.push_back(range);
}

NameCells &ThinningCollector::cells_at(NameId name)
{
    if (name >= names_.size())
        names_.resize(name + 1);
    if (!names_[name])
        names_[name] = std::make_unique<NameCells>();
    return *names_[name];
}

void ThinningCollector::finish()
{
    for (const auto &cells : names_)
        for (size_t set = 0; cells && set < cells->cells.size(); ++set)
            if (cells->cells[set])
                cells->cells[set]->finish();
}
} // namespace nsdump
