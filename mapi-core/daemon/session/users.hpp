// SPDX-License-Identifier: MIT
// Users: how much of everything all clients of one user have together, against mapid's limits.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "daemon/session/policy.hpp"
#include "engine/memory/budget.hpp"

namespace mapi::daemon
{
// Of one user.  Those of an operator only count.
struct UserBudgets {
    std::shared_ptr<engine::Budget> memory; // what functions could need, captures hold, and results and packets took
    std::shared_ptr<engine::Budget> files;  // open in mapid, connections among them
};

// Any thread.
class Users
{
public:
    explicit Users(const Limits &limits) : memory_most_(limits.user_bytes), files_most_(limits.user_files) {}

    UserBudgets of(const Peer &peer);

private:
    struct Account {
        engine::Budget memory, files;
    };

    const uint64_t memory_most_, files_most_;
    std::mutex mutex_; // all below
    std::map<uid_t, std::weak_ptr<Account>> accounts_;
};
} // namespace mapi::daemon
