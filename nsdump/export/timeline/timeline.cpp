// SPDX-License-Identifier: MIT
// export: slices and events -> a timeline's tracks, slices and counters.
#include "export/timeline/timeline.hpp"

#include <cstdlib>

#include "common/command/counted.hpp"

namespace nsdump
{
Timeline::Timeline(TraceFile &trace, const Correction &correction, TimelineWriter &writer,
                   std::string &out, bool is_part)
    : trace_(trace), writer_(writer), out_(out), is_part_(is_part), clock_(clock_of(trace)),
      time_(clock_), start_ns_(time_.ns(clock_.start_ticks).value_or(0)),
      arguments_(trace, correction, time_), stacks_(writer, out), losses_(losses_of(trace, false)),
      rings_(trace.cpus().size())
{
    program_pid_ = uint32_t(std::strtoul(trace.info("program.pid").c_str(), nullptr, 10));
}

Stack &Timeline::thread_stack(uint32_t thread_id, uint16_t slice_id)
{
    if (Stack *known = stacks_.find_thread(thread_id))
        return *known;
    const uint32_t pid = trace_.names().pid_of(slice_id);
    return stacks_.thread(thread_id, pid != 0 ? pid : program_pid_);
}

// Losses of the lead-in, and where nothing was read, are not those of the part.
void Timeline::note_losses(const Run &run)
{
    if (run.begins_window)
        for (Ring &ring : rings_)
            ring.has_records = false;
    Ring &ring = rings_[run.cpu_index];
    const bool is_known = !is_part_ || (ring.has_records && !run.is_lead_in);
    if (const uint64_t left_out = growth(ring.left_out_told, run.left_out_before);
        left_out > 0 && is_known)
        tell_pause(run.cpu_index, left_out, run.events.front().ticks);
    if (run.is_after_loss && is_known)
        tell_loss(run.cpu_index, growth(ring.lost_told, run.lost_before), run.events.front().ticks);
    ring.lost_told = run.lost_before;
    ring.left_out_told = run.left_out_before;
    ring.has_records = true;
    ring.last_ticks = run.events.back().ticks;
}

void Timeline::run(const Run &run)
{
    make_room();
    note_losses(run);
    uint32_t last_thread = ~uint32_t{0};
    for (const Event &event : run.events) {
        if (event.thread_id == last_thread ||
            is_of_kernel(run.cpu_index, trace_.names().of_slice(event.slice_id)))
            continue;
        last_thread = event.thread_id;
        thread_stack(event.thread_id, event.slice_id);
    }
}

void Timeline::count_samples(Stack &stack, const std::vector<std::string> &names,
                             const Event &event, uint64_t at_ns)
{
    if (event.word_count != names.size())
        return; // the pairer counts it as malformed
    for (size_t i = 0; i < names.size(); ++i)
        writer_.counter(stacks_.counter(stack, i, names[i]), at_ns, event.words[i], out_);
}

void Timeline::sample(const Run &run, const Event &event)
{
    const bool is_stop = event.kind == NSLICE_KIND_STOP && event.word_count > 0;
    if (!is_stop && (event.kind != NSLICE_KIND_MARK || event.word_count < NSLICE_MARK_WORDS))
        return;
    const auto at_ns = time_.ns(event.ticks);
    if (!at_ns) {
        ++out_of_range_;
        return;
    }
    const NameId name = trace_.names().of_slice(event.slice_id);
    const bool is_kernel = is_of_kernel(run.cpu_index, name);
    // Programs' counters belong to a thread, the kernel's to a CPU.
    Stack &stack = is_kernel ? stacks_.cpu(trace_.cpus()[run.cpu_index].cpu)
                             : thread_stack(event.thread_id, event.slice_id);
    if (is_stop)
        return count_samples(stack,
                             is_kernel ? trace_.kernel_counter_names() : trace_.counter_names(),
                             event, *at_ns);
    writer_.counter(
        stacks_.counter(stack, NSLICE_MAX_COUNTERS + uint64_t{name}, trace_.names()[name].text),
        *at_ns, event.words[0], out_);
}

Stack &Timeline::stack_of_slice(const Slice &slice)
{
    if (!is_of_kernel(slice.cpu_index, slice.name))
        return stacks_.thread(slice.thread_id, program_pid_); // known from run()
    const uint32_t cpu = trace_.cpus()[slice.cpu_index].cpu;
    if (trace_.names()[slice.name].flags & NSLICE_SITE_INTERRUPT)
        return stacks_.cpu(cpu);
    if (slice.thread_id != 0)
        return stacks_.kernel_thread(slice.thread_id, "thread " + std::to_string(slice.thread_id));
    Event idle{};
    idle.cpu = cpu;
    return stacks_.kernel_thread(thread_of(idle, true), "idle, CPU " + std::to_string(cpu));
}

void Timeline::slice(const Slice &slice)
{
    const auto start_ns = time_.ns(slice.start_ticks), stop_ns = time_.ns(slice.stop_ticks);
    if (!start_ns || !stop_ns) {
        ++out_of_range_;
        return;
    }
    if (*stop_ns < *start_ns) {
        ++backward_;
        return;
    }
    TimelineSlice kept = arguments_.kept(slice);
    kept.start_ns = *start_ns;
    kept.stop_ns = *stop_ns;
    Stack &stack = stack_of_slice(slice);
    stack.slices.add(kept);
    ++pending_;
    if (stack.slices.size() >= kMaxPending)
        flush(stack, kKeptPending);
    else if (pending_ >= kMaxAllPending)
        flush_all();
}

void Timeline::make_room()
{
    if (!stacks_.are_many())
        return;
    flush_all();
    stacks_.forget();
}

void Timeline::flush(Stack &stack, size_t keep)
{
    writing_ = &stack;
    const size_t before = stack.slices.size();
    const uint64_t left_out = stack.slices.left_out();
    stack.slices.flush(keep, *this);
    pending_ -= before - stack.slices.size();
    left_out_ += stack.slices.left_out() - left_out;
}

void Timeline::flush_all()
{
    stacks_.each([this](Stack &stack) { flush(stack, 0); });
}

void Timeline::begin(size_t lane, const TimelineSlice &slice, const TimelineSlice *parent)
{
    TimelineEvent event;
    event.name = trace_.names()[slice.name].text;
    event.category = is_of_kernel(slice.cpu_index, slice.name) ? "kernel" : "program";
    event.start_ns = slice.start_ns;
    // Only the outermost slices of a unit in a thread: an arrow to every slice hides the others.
    if (slice.has_unit && !(parent && parent->is_of_same_unit(slice)))
        event.flow_id = mixed(slice.unit_name, slice.unit_number);
    event.arguments = arguments_.of(slice);
    writer_.begin(stacks_.lane(*writing_, lane), event, out_);
}

void Timeline::end(size_t lane, const TimelineSlice &slice)
{
    writer_.end(stacks_.lane(*writing_, lane), slice.stop_ns, out_);
}

void Timeline::finish(bool is_whole)
{
    flush_all();
    for (uint32_t cpu = 0; is_whole && !is_part_ && cpu < rings_.size(); ++cpu)
        if (const uint64_t lost = trace_.lost_at_end(trace_.cpus()[cpu]); lost > 0) {
            if (rings_[cpu].has_records)
                tell_loss(cpu, lost, rings_[cpu].last_ticks);
            else
                ++placeless_;
        }
    writer_.tail(out_);
}

std::vector<std::string> Timeline::omissions() const
{
    using command::counted;
    std::vector<std::string> all;
    if (clock_.hz <= 0)
        all.emplace_back("the clock's rate is not in the trace: a tick is shown as 1 ns");
    if (out_of_range_ > 0)
        all.push_back(counted(out_of_range_, "slice, counter value or loss",
                              "slices, counter values or losses") +
                      " left out: outside of the times that viewers can show");
    if (backward_ > 0)
        all.push_back(counted(backward_, "slice") + " left out: the clock went backwards in them");
    if (left_out_ > 0)
        all.push_back(counted(left_out_, "slice") + " left out: more than " +
                      std::to_string(NestedSlices::kMaxLanes) + " of a thread overlap");
    if (placeless_ > 0)
        all.push_back("losses of " + counted(placeless_, "CPU") +
                      " not shown: they have no record, so their time is unknown");
    return all;
}
} // namespace nsdump
