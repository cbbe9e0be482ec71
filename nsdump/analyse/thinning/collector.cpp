// SPDX-License-Identifier: MIT
// analyse: events of programs -> slices that lie in one epoch each, in cells by what was off.
#include "analyse/thinning/collector.hpp"

#include <algorithm>

namespace nsdump
{
ThinningCollector::ThinningCollector(TraceFile &trace, const EpochTable &epochs, const Clock &clock,
                                     double close_ticks, bool keeps_cells)
    : trace_(trace), epochs_(epochs),
      margin_ticks_(uint64_t(kMarginSeconds * (clock.hz > 0 ? clock.hz : 1e9))),
      close_ticks_(close_ticks), step_(clock.step_ticks), keeps_cells_(keeps_cells),
      is_stepping_(trace.info("counters.source") == "step"),
      kernel_indices_(trace.kernel_indices()), kernel_records_(trace.cpus().size())
{
    if (!epochs.is_of_kernel())
        return;
    // All sites in BPF programs have the flag.  The recorder's own points have a site without it,
    // too, and are never off.
    const NameTable &names = trace.names();
    is_in_program_.assign(names.size(), true);
    for (uint32_t id = 0; id < 1u << 16; ++id)
        if (const NameId name = names.known(uint16_t(id)); name != NameTable::kNone)
            is_in_program_[name] = is_in_program_[name] && names.is_in_program(uint16_t(id));
}

bool ThinningCollector::is_in_program(uint16_t slice_id) const
{
    const NameId name = trace_.names().known(slice_id);
    return name < is_in_program_.size() && is_in_program_[name];
}

ThinningCollector::View ThinningCollector::view_of(const Slice &slice) const
{
    if (epochs_.is_of_kernel()) // those of other groups may have slices of programs inside
        return {true, epochs_.range()};
    const Thread *const known = find_thread(slice.thread_id);
    if (!known)
        return {true, {}};
    return {known->is_trusted, epochs_.range_of(known->slice_id)};
}

// What else the kernel records interrupts the slices of its BPF programs.
void ThinningCollector::consume_kernel(const Run &run)
{
    losses_ += run.is_after_loss;
    for (const Event &event : run.events) {
        if (!is_in_program(event.slice_id))
            ++kernel_records_[run.cpu_index];
        else
            take(run, event);
    }
}

void ThinningCollector::consume(const Run &run)
{
    if (epochs_.is_of_kernel()) {
        if (run.is_kernel)
            consume_kernel(run);
        return;
    }
    if (run.is_kernel) {
        kernel_records_[run.cpu_index] += run.events.size();
        return;
    }
    // A thread may have written on the CPU of the loss and come back unseen, so slices that are
    // open on any CPU are left out.
    losses_ += run.is_after_loss || run.is_after_pause || run.is_kernel_unseen;
    for (const Event &event : run.events) {
        if (names_.size() > kManyNames)
            look_ahead(run, event);
        take(run, event);
    }
}

// Prefetches what later events of the run need.
void ThinningCollector::look_ahead(const Run &run, const Event &event) const
{
    const ptrdiff_t left = run.events.data() + run.events.size() - &event;
    const auto at = [&](ptrdiff_t distance) -> const NameCells * {
        if (left <= distance || (&event)[distance].kind != NSLICE_KIND_STOP)
            return nullptr;
        return cells_of(trace_.names().known((&event)[distance].slice_id));
    };
    if (const NameCells *const far = at(kFarEvents))
        far->prefetch();
    if (const NameCells *const near = at(kNearEvents))
        near->prefetch_rest();
}

ThinningCollector::Thread *ThinningCollector::look_up(uint32_t id) const
{
    const auto found = threads_.find(id);
    if (found == threads_.end())
        return nullptr;
    last_id_ = id;
    return last_ = &found->second;
}

ThinningCollector::Thread &ThinningCollector::thread_at(const Run &run, const Event &event)
{
    const uint32_t id = thread_of(event, run.is_kernel);
    Thread *found = find_thread(id);
    const bool is_new = !found;
    if (is_new) {
        if (threads_.size() == kMaxThreads) {
            threads_.clear();
            last_ = nullptr;
        }
        found = &threads_[id];
    }
    Thread &thread = *found;
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
        thread.is_after_stop = thread.is_after_work = false;
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
    if (!keeps_cells_)
        return;
    if (name >= starts_.size())
        starts_.resize(name + 1);
    Starts &starts = starts_[name];
    ++starts.count;
    const double distance = double(event.ticks) - double(thread.ticks);
    if (thread.ticks == 0 || distance < 0 || distance > close_ticks_)
        return;
    ++starts.close;
    starts.close_ticks += distance;
    starts.after_stop += thread.is_after_stop;
    if (thread.is_after_work) {
        ++starts.after_work;
        starts.after_work_ticks += distance;
    }
    if (!thread.is_after_stop || thread.stopped != name)
        return;
    ++starts.after_same;
    if (thread.is_after_work) {
        ++starts.after_same_work;
        starts.after_same_work_ticks += distance;
    }
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
    // BPF programs run in any thread, and all of them are switched.
    if (thread.is_trusted && is_well_inside && !is_first && !epochs_.is_of_kernel() &&
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
    thread.is_after_stop = true;
    thread.stopped = name;
    thread.is_after_work = false;
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
    thread.is_after_work = open.is_nested && open.slice.inside.empty() && open.slice.inits == 0 &&
                           open.slice.exits == 0;
    NameCells &cells = cells_at(name);
    const LeftOut why = verdict(thread, open, event, epoch);
    // A START and a STOP of different epochs, or around a loss, need not belong together.
    if (open.is_nested && open.losses == losses_ && open.epoch == epoch &&
        (epoch != EpochTable::kNone || epochs_.size() == 0))
        note_nested(cells, open);
    if (why == LeftOut::kCount) {
        open.slice.raw = double(event.ticks - open.start_ticks);
        open.slice.epoch = epoch;
        if (cells.accepted++ == 0)
            cells.reference = open.slice.raw;
        if (keeps_cells_)
            accept(name, cells, open.slice);
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
    for (const InsideCount &one : open.slice.inside)
        if (cells.inside.size() < kMaxInside || cells.inside.find(one.name))
            cells.inside.add(one);
}

// With many names, a name's cells are not in the cache when its next slice arrives, and each has
// few slices, so that all of them would need much memory.  So most names only have a list until
// they are finished.
void ThinningCollector::accept(NameId name, NameCells &cells, const ThinnedSlice &slice)
{
    if (!cells.takes_bare(slice)) {
        if (!cells.has_others)
            fill_cells(name, cells);
        cells.has_others = true;
        cells.add_to_cell(slice, epochs_, step_);
    } else if (cells.add_bare(slice)) {
        if (names_.size() <= kFewNames || !spill_.append(name, cells.bare.data()))
            fill_cells(name, cells);
        cells.bare.clear();
    }
}

// From the list, in order.
void ThinningCollector::fill_cells(NameId name, NameCells &cells)
{
    spill_.take(name, [&](const void *row) {
        cells.add_to_cells({static_cast<const BareSlice *>(row), NameCells::kMaxBare}, epochs_,
                           step_);
    });
    cells.add_to_cells(cells.bare, epochs_, step_);
    cells.bare.clear();
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

void ThinningCollector::finish(NameId name)
{
    if (name >= names_.size() || !names_[name])
        return;
    fill_cells(name, *names_[name]);
    names_[name]->finish_cells();
}

void ThinningCollector::drop_cells(NameId name)
{
    if (name < names_.size() && names_[name])
        names_[name]->drop_cells();
}
} // namespace nsdump
