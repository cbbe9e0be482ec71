// SPDX-License-Identifier: MIT
// Grace period: lock-free readers -> a writer that knows when all of them have left.
//
// As in userspace RCU, a reader only stores to a word of its own thread, and the rare writer pays
// for the ordering with membarrier(2).  If the kernel has no membarrier, each reader executes the
// fence itself.
#pragma once

#include <atomic>
#include <cstdint>

#include "client/reader_clock.hpp"

namespace mapi::client
{
// State of a reading thread.
struct alignas(64) ReaderThread {
    std::atomic<uint32_t> sections = 0; // number of nested sections that the thread is in
    ReaderClock clock;
    std::atomic<bool> needs_fence = false;
    std::atomic<bool> is_in_use = true;
    ReaderThread *next = nullptr;
};

// Null until the thread's first section.  Initial-exec: one load and no call, also in a shared
// library.
extern constinit thread_local ReaderThread *own_reader
    [[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]];

// Throws std::bad_alloc.
ReaderThread &register_reader();

// Everything before it becomes visible to all threads before anything after it is executed.
inline void full_fence()
{
#ifdef __SANITIZE_THREAD__ // does not support fences
    static std::atomic<int> fence;
    fence.fetch_add(1);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

// What a writer unlinks during a section stays valid until the section ends.  The thread must not
// block inside.  Signal handlers may have sections.  For the calling thread; returns the argument
// of leave_section().
inline uint32_t enter_section(ReaderThread &own)
{
    const uint32_t before = own.sections.load(std::memory_order_relaxed);
    own.sections.store(before + 1, std::memory_order_relaxed);
    // Pairs with the barrier in wait_for_readers(): either it sees the section, or this reader sees
    // what was unlinked before.
    if (own.needs_fence.load(std::memory_order_relaxed)) [[unlikely]]
        full_fence();
    else
        std::atomic_signal_fence(std::memory_order_seq_cst);
    return before;
}

// Pairs with the load in wait_for_readers(): all reads inside the section happen before it.
inline void leave_section(ReaderThread &own, uint32_t before)
{
    own.sections.store(before, std::memory_order_release);
}

class ReadSection
{
public:
    ReadSection() : own_(own_reader ? *own_reader : register_reader()), before_(enter_section(own_))
    {
    }
    ~ReadSection() { leave_section(own_, before_); }
    ReadSection(const ReadSection &) = delete;
    ReadSection &operator=(const ReadSection &) = delete;

private:
    ReaderThread &own_;
    const uint32_t before_;
};

// Returns when all sections that began before the call have ended.  Must not be called inside a
// section.
void wait_for_readers();
} // namespace mapi::client
