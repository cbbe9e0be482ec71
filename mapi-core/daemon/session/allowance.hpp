// SPDX-License-Identifier: MIT
// Quota: what one client uses -> accepted, or refused beyond mapid's limits.
#pragma once

#include <memory>

#include "daemon/session/policy.hpp"
#include "daemon/session/users.hpp"
#include "engine/memory/budget.hpp"

namespace mapi::daemon
{
// Charges of a flow, or of a capture without one; returned when it ends.
struct Holdings {
    engine::Charge places;    // flows or captures
    engine::Charge functions;
    // files or sockets that functions write or send to: each has a thread or a socket
    engine::Charge written;
    engine::Charge files;     // open in mapid
    engine::Charge memory;    // of the flows or captures

    void take_over(Holdings &&other);
};

// One thread, except for the memory.  Going beyond a limit throws an Error (MAPI_LIMIT_REACHED)
// that names it.
class Allowance
{
public:
    // user: budgets of the client's user, in which everything is counted as well.
    explicit Allowance(const Limits &limits, UserBudgets user = {});

    Holdings nothing() const;
    void add_place(Holdings &holdings) const;
    void add_function(Holdings &holdings) const;
    void add_written(Holdings &holdings, uint64_t count) const;
    void add_files(Holdings &holdings, uint64_t count) const;
    // Options stay set, and take memory, as long as the client lives.
    void add_option(uint64_t bytes);

    const UserBudgets &user() const { return user_; }
    // What functions could need, what captures hold, and what flows and options take.
    const std::shared_ptr<engine::Budget> &memory() const { return memory_; }

private:
    const UserBudgets user_;
    const std::shared_ptr<engine::Budget> memory_, places_, functions_, written_, files_;
    uint64_t options_ = 0;
    engine::Charge option_memory_;
};
} // namespace mapi::daemon
