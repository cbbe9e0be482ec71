// SPDX-License-Identifier: MIT
// Allowance: how much of everything one client has, against mapid's limits.
#pragma once

#include <memory>

#include "daemon/session/policy.hpp"
#include "daemon/session/users.hpp"
#include "engine/memory/budget.hpp"

namespace mapi::daemon
{
// What a flow has, or a capture without one; given back with it.
struct Holdings {
    engine::Charge places;    // of flows, or captures
    engine::Charge functions;
    engine::Charge written;   // places that functions write or send to: each has a thread or a socket
    engine::Charge files;     // that are open in mapid
    engine::Charge memory;    // of the places

    void take_over(Holdings &&other);
};

// One thread, but for the memory.  What goes beyond a limit throws Error (MAPI_LIMIT_REACHED) that names it.
class Allowance
{
public:
    // user: what it has is counted there, too.
    explicit Allowance(const Limits &limits, UserBudgets user = {});

    Holdings nothing() const;
    void add_place(Holdings &holdings) const;
    void add_function(Holdings &holdings) const;
    void add_written(Holdings &holdings, uint64_t count) const;
    void add_files(Holdings &holdings, uint64_t count) const;
    // They stay set, and take memory, as long as the client lives.
    void add_option(uint64_t bytes);

    const UserBudgets &user() const { return user_; }
    // What functions could need, captures hold, and flows and options take.
    const std::shared_ptr<engine::Budget> &memory() const { return memory_; }

private:
    const UserBudgets user_;
    const std::shared_ptr<engine::Budget> memory_, places_, functions_, written_, files_;
    uint64_t options_ = 0;
    engine::Charge option_memory_;
};
} // namespace mapi::daemon
