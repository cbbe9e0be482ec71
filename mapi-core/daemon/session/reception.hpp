// SPDX-License-Identifier: MIT
// Reception: connections without a greeting: each has a descriptor and a time limit, no thread and no memory.
#pragma once

#include <chrono>
#include <list>
#include <vector>

#include <poll.h>

#include "daemon/session/policy.hpp"
#include "engine/memory/budget.hpp"
#include "ipc/descriptor.hpp"

namespace mapi::daemon
{
// A connection, and the files that are charged to its user for it.
struct Guest {
    ipc::Descriptor socket;
    Peer peer;
    engine::Charge files;
};

// One thread.
class Reception
{
public:
    void add(Guest guest);
    size_t size() const { return waiting_.size(); }
    size_t count_of(uid_t user) const;

    // For poll(): behind what is there already, and the time that it may take; -1: any.
    void append_to(std::vector<pollfd> &events) const;
    int timeout_ms() const;
    // events: those of append_to(), after poll().  Returns the connections that have sent something; those that were closed or are overdue are dropped.
    std::vector<Guest> take_spoken(const pollfd *events);

private:
    using Clock = std::chrono::steady_clock;
    struct Waiting {
        Guest guest;
        Clock::time_point end;
    };

    std::list<Waiting> waiting_; // in the order of their ends
};
} // namespace mapi::daemon
