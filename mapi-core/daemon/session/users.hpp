// SPDX-License-Identifier: MIT
// Users: what all clients of one user hold together, against mapid's limits.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "daemon/session/policy.hpp"
#include "engine/memory/quota.hpp"

namespace mapi::daemon
{
// Budgets of one user.  Those of an operator only count.
struct UserQuotas {
    // what functions could need, captures hold, and results and packets have taken
    std::shared_ptr<engine::Quota> memory;
    std::shared_ptr<engine::Quota> files; // open in mapid, including connections
};

// Any thread.
class Users
{
public:
    explicit Users(const Limits &limits)
        : memory_most_(limits.user_bytes), files_most_(limits.user_files)
    {
    }

    UserQuotas of(const Peer &peer);

private:
    struct Account {
        engine::Quota memory, files;
    };

    const uint64_t memory_most_, files_most_;
    std::mutex mutex_; // protects all members below
    std::map<uid_t, std::weak_ptr<Account>> accounts_;
};
} // namespace mapi::daemon
