// SPDX-License-Identifier: MIT
// Reception: connections before the handshake: each has a descriptor and a time limit, but no
// thread and no memory.
#pragma once

#include <chrono>
#include <list>
#include <vector>

#include <poll.h>

#include "daemon/reporting/client_log.hpp"
#include "daemon/session/policy.hpp"
#include "engine/memory/quota.hpp"
#include "ipc/descriptor.hpp"

namespace mapi::daemon
{
// A connection, and the files that are charged to its user.
struct Guest {
    ipc::Descriptor socket;
    Peer peer;
    engine::QuotaUse files;
};

// One thread.
class Reception
{
public:
    explicit Reception(ClientLog &log) : log_(log) {}

    void add(Guest guest);
    size_t size() const { return waiting_.size(); }
    size_t count_of(uid_t user) const;

    // For poll(): appends to `events`; returns the maximum time to wait, -1: no limit.
    void append_to(std::vector<pollfd> &events) const;
    int timeout_ms() const;
    // events: those of append_to(), after poll().  Returns the connections that have sent
    // something; drops those that were closed or have timed out.
    std::vector<Guest> take_spoken(const pollfd *events);

private:
    using Clock = std::chrono::steady_clock;
    struct Waiting {
        Guest guest;
        Clock::time_point end;
    };

    ClientLog &log_;
    std::list<Waiting> waiting_; // ordered by their ends
};
} // namespace mapi::daemon
