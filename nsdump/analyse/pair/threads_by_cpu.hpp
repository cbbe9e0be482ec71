// SPDX-License-Identifier: MIT
// analyse: a loss of records on a CPU -> the threads that it may affect.
#pragma once

#include <cstdint>
#include <vector>

#include "analyse/pair/thread_state.hpp"

namespace nsdump
{
// A loss on a CPU may affect the threads last seen there, and those that have moved, which may be
// anywhere.  A loss removes them from the list, and the next slice they open adds them again, so
// many losses in a row cost no more than one.
class ThreadsByCpu
{
public:
    ThreadsByCpu(ThreadList list, size_t cpus) : list_(list), last_here_(cpus) {}

    void add(ThreadState &thread)
    {
        if (thread.is_listed[list_])
            return;
        thread.is_listed[list_] = true;
        (thread.has_moved ? moved_ : last_here_[thread.last_cpu_index]).push_back(&thread);
    }
    // To be called when a thread moves for the first time.  Its old entry stays and is harmless,
    // since from now on any loss may affect the thread.
    void move(ThreadState &thread)
    {
        thread.is_listed[list_] = false;
        add(thread);
    }
    template <class Each> void take(uint32_t cpu_index, Each each)
    {
        take(last_here_[cpu_index], each);
        take(moved_, each);
    }
    // Those of all CPUs.
    template <class Each> void take_all(Each each)
    {
        for (auto &threads : last_here_)
            take(threads, each);
        take(moved_, each);
    }
    void clear()
    {
        for (auto &threads : last_here_)
            threads.clear();
        moved_.clear();
    }

private:
    template <class Each> void take(std::vector<ThreadState *> &threads, Each each)
    {
        for (ThreadState *thread : threads) {
            thread->is_listed[list_] = false;
            each(*thread);
        }
        threads.clear();
    }

    ThreadList list_;
    std::vector<std::vector<ThreadState *>> last_here_; // by CPU
    std::vector<ThreadState *> moved_;
};
} // namespace nsdump
