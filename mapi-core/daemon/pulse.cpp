// SPDX-License-Identifier: MIT
// Pulse: a thread that shows all clients that mapid is running.
#include "daemon/pulse.hpp"

#include <chrono>

namespace mapi::daemon
{
Pulse::Pulse() : thread_([this] { run(); }) {}

Pulse::~Pulse()
{
    {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
        ends_.notify_all();
    }
    thread_.join();
}

void Pulse::add(ipc::PulseWord &word)
{
    const std::lock_guard lock(mutex_);
    words_.insert(&word);
    word.store(ipc::monotonic_ns(), std::memory_order_relaxed);
}

void Pulse::remove(ipc::PulseWord &word)
{
    const std::lock_guard lock(mutex_);
    words_.erase(&word);
}

void Pulse::run()
{
    std::unique_lock lock(mutex_);
    while (!ends_.wait_for(lock, std::chrono::milliseconds(ipc::kPulseMs),
                           [this] { return has_ended_; })) {
        const uint64_t now_ns = ipc::monotonic_ns();
        for (ipc::PulseWord *word : words_)
            word->store(now_ns, std::memory_order_relaxed);
    }
}
} // namespace mapi::daemon
