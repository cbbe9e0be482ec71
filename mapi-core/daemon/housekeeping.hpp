// SPDX-License-Identifier: MIT
// Housekeeping: a thread that returns memory which flows and clients have left.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "engine/devices.hpp"

namespace mapi::daemon
{
// Any thread.
class Housekeeping
{
public:
    // devices: those that clients share; those of a single client are freed with it.
    explicit Housekeeping(engine::Devices &devices);
    ~Housekeeping();
    Housekeeping(const Housekeeping &) = delete;
    Housekeeping &operator=(const Housekeeping &) = delete;

    // Requests a cleanup after a flow was created or closed, or a client has disconnected.  It
    // happens soon, and once for many requests.
    void want();

private:
    using Clock = std::chrono::steady_clock;

    void run();
    bool clean();

    engine::Devices &devices_;
    std::mutex mutex_; // protects all members below
    std::condition_variable changed_;
    bool is_wanted_ = false;
    bool has_ended_ = false;
    std::thread thread_;
};
} // namespace mapi::daemon
