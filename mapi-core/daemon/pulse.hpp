// SPDX-License-Identifier: MIT
// Pulse: a thread that shows all clients, in memory that they map, that mapid is running.
#pragma once

#include <condition_variable>
#include <mutex>
#include <set>
#include <thread>

#include "ipc/pulse.hpp"

namespace mapi::daemon
{
// Any thread.
class Pulse
{
public:
    Pulse();
    ~Pulse();
    Pulse(const Pulse &) = delete;
    Pulse &operator=(const Pulse &) = delete;

    // The word is written immediately, and until remove() returns.
    void add(ipc::PulseWord &word);
    void remove(ipc::PulseWord &word);

private:
    void run();

    std::mutex mutex_; // protects all members below
    std::condition_variable ends_;
    bool has_ended_ = false;
    std::set<ipc::PulseWord *> words_;
    std::thread thread_;
};
} // namespace mapi::daemon
