// SPDX-License-Identifier: MIT
// analyse: the kernel's events -> time inside programs' slices that was not the programs'.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyse/pair/pair.hpp"

namespace nsdump
{
// What the kernel does in a thread's context is of three kinds: interrupts, which are taken out of the thread's slices as a
// whole; switches to other threads, as long as they last; what the thread asked for itself (a system call), of which the
// kernel's own probes only are taken out.
class KernelTime
{
public:
    // cpus: places of TraceFile::cpus(); both sides outlive this.
    KernelTime(NameTable &names, std::size_t cpus, PairState &programs, PairState &kernel)
        : names_(names), cpus_(cpus), programs_(programs), kernel_(kernel)
    {
    }

    // In time order with the events of programs.
    void note(std::uint32_t cpu_index, const Event &event);
    // Records of this CPU were lost right before the next one.
    void note_loss(std::uint32_t cpu_index);

private:
    static constexpr std::size_t kMaxThreads = 65536;

    struct Cpu {
        std::uint32_t depth = 0; // interrupts that are open, in each other
        std::uint64_t start_ticks = 0;
    };

    void note_interrupt(Cpu &cpu, const Event &event);
    void note_switch(const Event &event);
    void forget_away();

    NameTable &names_;
    std::vector<Cpu> cpus_;
    std::unordered_map<std::uint32_t, std::uint64_t> left_ticks_; // by thread: when it left its CPU; one that has ended stays
    PairState &programs_;
    PairState &kernel_;
};
} // namespace nsdump
