// SPDX-License-Identifier: MIT
// analyse: the kernel's events -> time inside programs' slices that the programs did not use.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyse/pair/pair.hpp"

namespace nsdump
{
// Kernel activity in the context of a thread is of three kinds.  Interrupts are subtracted from the
// thread's slices as a whole.  After a switch to another thread, the time until the thread is back
// is subtracted.  Of what the thread itself requested (a system call), only the cost of the
// kernel's probes is subtracted.
class KernelTime
{
public:
    // `cpus`: size of TraceFile::cpus().  Both sides must outlive this object.
    KernelTime(NameTable &names, size_t cpus, const BpfCosts &bpf, PairState &programs,
               PairState &kernel)
        : names_(names), bpf_(bpf), cpus_(cpus), programs_(programs), kernel_(kernel)
    {
    }

    // To be called in time order with the events of programs.
    void note(uint32_t cpu_index, const Event &event);
    // Records of this CPU were lost right before the next one.
    void note_loss(uint32_t cpu_index);
    // Events were left out on all CPUs, and no slice is open.
    void forget();

private:
    static constexpr size_t kMaxThreads = 65536;

    struct Cpu {
        uint32_t depth = 0; // nesting depth of open interrupts
        uint64_t start_ticks = 0;
        uint64_t last_ticks = 0; // of the last record
        ProgramCounts start;     // of the START
    };

    ProgramCounts programs_of(const Event &event, uint64_t last_ticks) const;
    void note_interrupt(Cpu &cpu, const Event &event, uint64_t last_ticks);
    void note_switch(const Event &event);
    void forget_away();

    NameTable &names_;
    const BpfCosts bpf_;
    std::vector<Cpu> cpus_;
    std::unordered_map<uint32_t, uint64_t> left_ticks_; // by thread; ended ones remain
    PairState &programs_;
    PairState &kernel_;
};
} // namespace nsdump
