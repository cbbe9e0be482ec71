// SPDX-License-Identifier: MIT
// analyse: which threads a loss of records on a CPU bears on.
#pragma once

#include <cstdint>
#include <vector>

#include "analyse/pair/thread_state.hpp"

namespace nsdump
{
// The threads that a loss on a CPU bears on: those last seen there, and those that have moved, which may be anywhere.  A loss
// takes them off the list and what is opened next puts them on again, so that many losses in a row cost no more than one.
class ThreadsByCpu
{
public:
    ThreadsByCpu(ThreadList list, std::size_t cpus) : list_(list), last_here_(cpus) {}

    void add(ThreadState &thread)
    {
        if (thread.is_listed[list_])
            return;
        thread.is_listed[list_] = true;
        (thread.has_moved ? moved_ : last_here_[thread.last_cpu_index]).push_back(&thread);
    }
    // When it has moved for the first time.  Its old place stays and does no harm: any loss bears on it now.
    void move(ThreadState &thread)
    {
        thread.is_listed[list_] = false;
        add(thread);
    }
    template <class Each> void take(std::uint32_t cpu_index, Each each)
    {
        for (std::vector<ThreadState *> *threads : {&last_here_[cpu_index], &moved_}) {
            for (ThreadState *thread : *threads) {
                thread->is_listed[list_] = false;
                each(*thread);
            }
            threads->clear();
        }
    }
    void clear()
    {
        for (auto &threads : last_here_)
            threads.clear();
        moved_.clear();
    }

private:
    ThreadList list_;
    std::vector<std::vector<ThreadState *>> last_here_; // by CPU
    std::vector<ThreadState *> moved_;
};
} // namespace nsdump
