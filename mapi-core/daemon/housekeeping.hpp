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
    // devices: which clients share; those of one client alone go with it.
    explicit Housekeeping(engine::Devices &devices);
    ~Housekeeping();
    Housekeeping(const Housekeeping &) = delete;
    Housekeeping &operator=(const Housekeeping &) = delete;

    // A flow has been made or closed, or a client has gone: soon, and once for many of them.
    void want();

private:
    using Clock = std::chrono::steady_clock;

    void run();
    bool clean();

    engine::Devices &devices_;
    std::mutex mutex_; // all below
    std::condition_variable changed_;
    bool is_wanted_ = false;
    bool has_ended_ = false;
    std::thread thread_;
};
} // namespace mapi::daemon
