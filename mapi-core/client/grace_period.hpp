// SPDX-License-Identifier: MIT
// Grace period: readers without a lock -> a writer that knows when all of them have left.
//
// As userspace RCU does it: a reader only stores to a word of its own thread, and the rare writer pays for the ordering with
// membarrier(2).  Where the kernel has no membarrier, each reader executes the fence itself.
#pragma once

#include <atomic>
#include <cstdint>

#include "client/reader_clock.hpp"

namespace mapi::client
{
// What a thread that reads has for itself.
struct alignas(64) ReaderThread {
    std::atomic<uint32_t> sections = 0; // that the thread is in, one inside the other
    ReaderClock clock;
    std::atomic<bool> needs_fence = false;
    std::atomic<bool> is_in_use = true;
    ReaderThread *next = nullptr;
};

// Null until the thread's first section.  Initial-exec: one load, no call, in a shared library, too.
extern constinit thread_local ReaderThread *own_reader [[gnu::tls_model("initial-exec"), gnu::visibility("hidden")]];

// Throws std::bad_alloc.
ReaderThread &register_reader();

// Nothing after it is done before anything ahead of it is visible to all.
inline void full_fence()
{
#ifdef __SANITIZE_THREAD__ // knows no fences
    static std::atomic<int> fence;
    fence.fetch_add(1);
#else
    std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

// What a writer unlinks while a section lasts stays valid until its end.  The thread does not block inside.  Signal handlers may have sections.
// Of the calling thread; returns what leave_section() takes.
inline uint32_t enter_section(ReaderThread &own)
{
    const uint32_t before = own.sections.load(std::memory_order_relaxed);
    own.sections.store(before + 1, std::memory_order_relaxed);
    // Pairs with the barrier in wait_for_readers(): either it sees the section, or this reader what was unlinked before.
    if (own.needs_fence.load(std::memory_order_relaxed)) [[unlikely]]
        full_fence();
    else
        std::atomic_signal_fence(std::memory_order_seq_cst);
    return before;
}

// Pairs with the load in wait_for_readers(): what was read inside was read before.
inline void leave_section(ReaderThread &own, uint32_t before)
{
    own.sections.store(before, std::memory_order_release);
}

class ReadSection
{
public:
    ReadSection() : own_(own_reader ? *own_reader : register_reader()), before_(enter_section(own_)) {}
    ~ReadSection() { leave_section(own_, before_); }
    ReadSection(const ReadSection &) = delete;
    ReadSection &operator=(const ReadSection &) = delete;

private:
    ReaderThread &own_;
    const uint32_t before_;
};

// Returns when all sections that had begun before the call have ended.  Not from inside a section.
void wait_for_readers();
} // namespace mapi::client
