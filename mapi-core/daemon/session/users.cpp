// SPDX-License-Identifier: MIT
// Users: what all clients of one user hold together.
#include "daemon/session/users.hpp"

#include <string>

namespace mapi::daemon
{
UserQuotas Users::of(const Peer &peer)
{
    const std::lock_guard lock(mutex_);
    // users without clients
    std::erase_if(accounts_, [](const auto &account) { return account.second.expired(); });
    std::shared_ptr<Account> account = accounts_[peer.uid].lock();
    if (!account) {
        const std::string owner = "user " + std::to_string(peer.uid);
        const auto most = [&](uint64_t limit) {
            return is_operator(peer) ? engine::Quota::kUnlimited : limit;
        };
        account = std::shared_ptr<Account>( // NOLINT(modernize-make-shared): a Quota cannot move
            new Account{engine::Quota(most(memory_most_), "--max-user-memory", owner),
                        engine::Quota(most(files_most_), "a share of LimitNOFILE=", owner)});
        accounts_[peer.uid] = account;
    }
    return {{account, &account->memory}, {account, &account->files}};
}
} // namespace mapi::daemon
