// SPDX-License-Identifier: MIT
// Reception: connections whose programs have not said anything yet: for each a descriptor and a time, no thread and no memory.
#pragma once

#include <chrono>
#include <list>
#include <vector>

#include <poll.h>

#include "daemon/policy.hpp"
#include "engine/budget.hpp"
#include "ipc/descriptor.hpp"

namespace mapi::daemon
{
// Who has been let in: the connection, and what it holds of its user's files.
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
    // `events`: what append_to() appended, after poll().  Those that have spoken; who has gone, or said nothing for too long, is let go.
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
