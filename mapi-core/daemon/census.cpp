// SPDX-License-Identifier: MIT
// Census: the flows of all clients.
#include "daemon/census.hpp"

namespace mapi::daemon
{
uint64_t Census::add_client(const Peer &peer)
{
    const std::lock_guard lock(mutex_);
    clients_[++last_client_] = {peer.pid, peer.uid, {}};
    return last_client_;
}

void Census::remove_client(uint64_t client)
{
    const std::lock_guard lock(mutex_);
    clients_.erase(client);
}

void Census::add_flow(uint64_t client, int number, const std::shared_ptr<engine::Flow> &flow)
{
    const std::lock_guard lock(mutex_);
    clients_.at(client).flows[number] = flow;
}

void Census::remove_flow(uint64_t client, int number)
{
    const std::lock_guard lock(mutex_);
    clients_.at(client).flows.erase(number);
}

size_t Census::client_count()
{
    const std::lock_guard lock(mutex_);
    return clients_.size();
}

std::vector<Census::Entry> Census::flows(std::optional<uid_t> user, uint64_t client, int number, size_t most)
{
    const std::lock_guard lock(mutex_);
    std::vector<Entry> found;
    for (auto at = clients_.lower_bound(client); at != clients_.end(); ++at) {
        const Client &owner = at->second;
        if (user && owner.uid != *user)
            continue;
        for (auto flow = owner.flows.lower_bound(at->first == client ? number : 0); flow != owner.flows.end(); ++flow) {
            if (found.size() == most)
                return found;
            found.push_back({at->first, owner.pid, owner.uid, flow->first, flow->second});
        }
    }
    return found;
}
} // namespace mapi::daemon
