// SPDX-License-Identifier: MIT
// Grace period: registers reading threads, and waits for them.
#include "client/grace_period.hpp"

#include <chrono>
#include <thread>

#include <linux/membarrier.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace mapi::client
{
constinit thread_local ReaderThread *own_reader = nullptr;

namespace
{
// no store stays invisible longer in a processor
constexpr std::chrono::milliseconds kStoresAreVisible(10);

std::atomic<bool> readers_need_fences = true; // until the first reader registers

// The list grows to the number of threads that read at the same time; entries of threads that have
// ended are reused.
std::atomic<ReaderThread *> first_reader = nullptr;

bool membarrier(int command)
{
    return syscall(SYS_membarrier, command, 0, 0) == 0;
}

// In a child after fork(): sections of threads that do not exist there would never end.
void forget_other_threads()
{
    readers_need_fences = !membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
    for (ReaderThread *reader = first_reader; reader; reader = reader->next) {
        reader->needs_fence = readers_need_fences.load();
        if (reader == own_reader)
            continue;
        reader->sections = 0;
        reader->is_in_use = false;
    }
}

void release_reader(void *reader)
{
    own_reader = nullptr;
    static_cast<ReaderThread *>(reader)->is_in_use.store(false, std::memory_order_release);
}

// Created once: its destructor returns a thread's entry, even if other destructors of the thread
// read after it.
struct ThreadExit {
    ThreadExit()
    {
        readers_need_fences = !membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED);
        pthread_key_create(&key, release_reader);
        pthread_atfork(nullptr, nullptr, forget_other_threads);
    }
    pthread_key_t key;
};

ReaderThread *find_unused()
{
    for (ReaderThread *reader = first_reader; reader; reader = reader->next) {
        bool is_in_use = false;
        if (reader->is_in_use.compare_exchange_strong(is_in_use, true))
            return reader;
    }
    return nullptr;
}
} // namespace

ReaderThread &register_reader()
{
    static const ThreadExit thread_exit;
    ReaderThread *reader = find_unused();
    if (!reader) {
        reader = new ReaderThread;
        reader->next = first_reader;
        while (!first_reader.compare_exchange_weak(reader->next, reader)) {
        }
    }
    reader->needs_fence = readers_need_fences.load();
    own_reader = reader;
    pthread_setspecific(thread_exit.key, reader);
    return *reader;
}

void wait_for_readers()
{
    if (readers_need_fences)
        full_fence();
    // a system call filter was installed in the meantime
    else if (!membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED))
        std::this_thread::sleep_for(kStoresAreVisible);
    for (ReaderThread *reader = first_reader; reader; reader = reader->next) {
        while (reader->sections.load(std::memory_order_acquire) != 0)
            std::this_thread::yield();
    }
}
} // namespace mapi::client
