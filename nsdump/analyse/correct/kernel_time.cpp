// SPDX-License-Identifier: MIT
// analyse: the kernel's events -> time inside programs' slices that the programs did not use.
#include "analyse/correct/kernel_time.hpp"

#include <utility>

namespace nsdump
{
namespace
{
ProbeCounts probes_of(const Event &event)
{
    ProbeCounts probes;
    probes.ends = event.kind == NSLICE_KIND_START || event.kind == NSLICE_KIND_STOP;
    probes.marks = event.kind == NSLICE_KIND_MARK;
    probes.inits = event.kind == NSLICE_KIND_INIT;
    probes.exits = event.kind == NSLICE_KIND_EXIT;
    return probes;
}
} // namespace

// Of a record outside of interrupts.
ProgramCounts KernelTime::programs_of(const Event &event, uint64_t last_ticks) const
{
    const uint32_t calls = names_.is_in_program(event.slice_id) ? 0 : 1;
    return {calls, calls == 0 ? bpf_.behind(double(event.ticks - last_ticks)) : 0};
}

void KernelTime::note(uint32_t cpu_index, const Event &event)
{
    const uint8_t flags = names_[names_.of_slice(event.slice_id)].flags;
    Cpu &cpu = cpus_[cpu_index];
    const uint64_t last_ticks = std::exchange(cpu.last_ticks, event.ticks);
    if (flags & NSLICE_SITE_INTERRUPT &&
        (event.kind == NSLICE_KIND_START || event.kind == NSLICE_KIND_STOP))
        return note_interrupt(cpu, event, last_ticks);
    const bool is_switch = flags & NSLICE_SITE_SWITCH && event.kind == NSLICE_KIND_MARK &&
                           event.word_count >= NSLICE_MARK_WORDS;
    if (is_switch)
        cpu.depth = 0; // no thread leaves the CPU in an interrupt: the rules turned off its STOP
    if (cpu.depth > 0)
        return; // part of the interrupt
    if (const ProbeCounts probes = probes_of(event); probes != ProbeCounts{}) {
        Interruptions own;
        own.probes = probes;
        own.programs = programs_of(event, last_ticks);
        programs_.interrupt(event.thread_id, own);
    }
    if (is_switch)
        note_switch(event);
}

void KernelTime::note_interrupt(Cpu &cpu, const Event &event, uint64_t last_ticks)
{
    if (event.kind == NSLICE_KIND_START) {
        if (cpu.depth++ == 0) {
            cpu.start_ticks = event.ticks;
            cpu.start = programs_of(event, last_ticks);
        }
        return;
    }
    if (cpu.depth == 0 || --cpu.depth > 0) // 0: it began before the recording
        return;
    Interruptions one;
    one.ticks = int64_t(event.ticks - cpu.start_ticks);
    one.interrupts = 1;
    one.probes.ends = 2;
    one.programs = cpu.start;
    programs_.interrupt(event.thread_id, one);
}

// The thread of the event leaves the CPU; the thread given by its value comes back.
void KernelTime::note_switch(const Event &event)
{
    if (left_ticks_.size() >= kMaxThreads)
        forget_away();
    if (event.thread_id != 0)
        left_ticks_[event.thread_id] = event.ticks;
    const auto comes = left_ticks_.find(uint32_t(event.words[0]));
    if (comes == left_ticks_.end())
        return;
    Interruptions away;
    away.ticks = int64_t(event.ticks - comes->second);
    away.switches = 1;
    programs_.interrupt(comes->first, away);
    kernel_.interrupt(comes->first, away);
    left_ticks_.erase(comes);
}

void KernelTime::note_loss(uint32_t cpu_index)
{
    cpus_[cpu_index] = {};
    forget_away();
}

void KernelTime::forget()
{
    cpus_.assign(cpus_.size(), {});
    left_ticks_.clear();
}

// It is no longer known when they come back: one may have come back unseen.
void KernelTime::forget_away()
{
    for (const auto &[thread, ticks] : left_ticks_) {
        programs_.lose_sight_of_thread(thread);
        kernel_.lose_sight_of_thread(thread);
    }
    left_ticks_.clear();
}
} // namespace nsdump
