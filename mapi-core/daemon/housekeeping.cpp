// SPDX-License-Identifier: MIT
// Housekeeping: what flows and clients have left -> the system.  A packet thread that was in the
// middle of a burst when a flow was closed still had that flow's plan, and the closing thread did
// not wait for long.
#include "daemon/housekeeping.hpp"

#include <algorithm>

#include <spdlog/spdlog.h>

#include "daemon/heap.hpp"

namespace mapi::daemon
{
namespace
{
// Other threads wait for the heap meanwhile: clients that create and close flows all the time must
// not cause much of it.
constexpr std::chrono::nanoseconds kPauseLeast = std::chrono::milliseconds(500),
                                   kPauseMost = std::chrono::seconds(3);
constexpr int kPauseOfWork = 5;
} // namespace

Housekeeping::Housekeeping(engine::Devices &devices) : devices_(devices), thread_([this] { run(); })
{
}

Housekeeping::~Housekeeping()
{
    {
        const std::lock_guard lock(mutex_);
        has_ended_ = true;
        changed_.notify_all();
    }
    thread_.join();
}

void Housekeeping::want()
{
    const std::lock_guard lock(mutex_);
    if (!is_wanted_) // otherwise the thread has been woken up and waits for more
        changed_.notify_all();
    is_wanted_ = true;
}

void Housekeeping::run()
{
    std::unique_lock lock(mutex_);
    std::chrono::nanoseconds pause = kPauseLeast;
    while (true) {
        changed_.wait(lock, [this] { return is_wanted_ || has_ended_; });
        if (changed_.wait_for(lock, pause, [this] { return has_ended_; }))
            return;
        is_wanted_ = false;
        lock.unlock();
        const auto begin = Clock::now();
        const bool is_clean = clean();
        pause = std::clamp<std::chrono::nanoseconds>((Clock::now() - begin) * kPauseOfWork,
                                                     kPauseLeast, kPauseMost);
        lock.lock();
        is_wanted_ |= !is_clean;
    }
}

// False: a packet thread still uses memory that is to be freed.
bool Housekeeping::clean()
{
    bool is_clean = false;
    try {
        is_clean = devices_.free_retired();
    } catch (const std::exception &error) {
        spdlog::warn("memory of closed flows is not freed yet: {}", error.what());
    }
    give_heap_back();
    return is_clean;
}
} // namespace mapi::daemon
