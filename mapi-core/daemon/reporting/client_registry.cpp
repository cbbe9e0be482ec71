// SPDX-License-Identifier: MIT
// Client registry: the flows of all clients.
#include "daemon/reporting/client_registry.hpp"

#include <algorithm>

namespace mapi::daemon
{
uint64_t ClientRegistry::add_client(const Peer &peer, std::shared_ptr<engine::Quota> memory,
                                    std::shared_ptr<engine::Quota> user)
{
    const std::lock_guard lock(mutex_);
    clients_[++last_client_] = {peer.pid, peer.uid, {}, std::move(memory), std::move(user)};
    return last_client_;
}

void ClientRegistry::remove_client(uint64_t client)
{
    std::vector<std::shared_ptr<engine::Flow>> flows;
    {
        const std::lock_guard lock(mutex_);
        for (const auto &[number, flow] : clients_.at(client).flows)
            flows.push_back(flow.lock());
    }
    const FunctionSums sums = sum_up(flows);
    const std::lock_guard lock(mutex_);
    add(sums, gone_);
    clients_.erase(client);
}

void ClientRegistry::add_flow(uint64_t client, int number,
                              const std::shared_ptr<engine::Flow> &flow)
{
    const std::lock_guard lock(mutex_);
    clients_.at(client).flows[number] = flow;
}

void ClientRegistry::remove_flow(uint64_t client, int number)
{
    std::vector<std::shared_ptr<engine::Flow>> flow(1);
    {
        const std::lock_guard lock(mutex_);
        flow[0] = clients_.at(client).flows.at(number).lock();
    }
    const FunctionSums sums = sum_up(flow);
    const std::lock_guard lock(mutex_);
    add(sums, gone_);
    clients_.at(client).flows.erase(number);
}

uint64_t ClientRegistry::function_bytes()
{
    const std::lock_guard lock(mutex_);
    uint64_t bytes = 0;
    for (const auto &[id, client] : clients_)
        bytes += client.memory->used();
    return bytes;
}

std::map<uid_t, uint64_t> ClientRegistry::user_bytes()
{
    const std::lock_guard lock(mutex_);
    std::map<uid_t, uint64_t> bytes;
    for (const auto &[id, client] : clients_)
        bytes[client.uid] = client.user->used();
    return bytes;
}

size_t ClientRegistry::client_count()
{
    const std::lock_guard lock(mutex_);
    return clients_.size();
}

FunctionSums ClientRegistry::function_sums()
{
    std::vector<std::shared_ptr<engine::Flow>> there;
    FunctionSums sums;
    {
        const std::lock_guard lock(mutex_);
        sums = gone_;
        for (const auto &[id, client] : clients_) {
            for (const auto &[number, flow] : client.flows)
                there.push_back(flow.lock());
        }
    }
    add(sum_up(there), sums);
    const std::lock_guard lock(mutex_);
    for (auto &[name, sum] : sums) {
        FunctionSum &reported = reported_[name];
        reported.packets = sum.packets = std::max(sum.packets, reported.packets);
        reported.passed = sum.passed = std::max(sum.passed, reported.passed);
    }
    return sums;
}

void ClientRegistry::add(const FunctionSums &more, FunctionSums &sums)
{
    for (const auto &[name, sum] : more) {
        sums[name].packets += sum.packets;
        sums[name].passed += sum.passed;
    }
}

// Called without the lock, because it may have to wait for a flow.
FunctionSums ClientRegistry::sum_up(const std::vector<std::shared_ptr<engine::Flow>> &flows)
{
    FunctionSums sums;
    for (const auto &flow : flows) {
        if (!flow)
            continue;
        for (const auto &functions : {flow->counts(), flow->removed_counts()}) {
            for (const auto &function : functions) {
                FunctionSum &sum = sums[function.name];
                sum.packets += function.packets;
                sum.passed += function.passed;
            }
        }
    }
    return sums;
}

std::vector<ClientRegistry::Entry> ClientRegistry::flows(std::optional<uid_t> user, uint64_t client,
                                                         int number, size_t most)
{
    const std::lock_guard lock(mutex_);
    std::vector<Entry> found;
    for (auto at = clients_.lower_bound(client); at != clients_.end(); ++at) {
        const Client &owner = at->second;
        if (user && owner.uid != *user)
            continue;
        for (auto flow = owner.flows.lower_bound(at->first == client ? number : 0);
             flow != owner.flows.end(); ++flow) {
            if (found.size() == most)
                return found;
            found.push_back({at->first, owner.pid, owner.uid, flow->first, flow->second,
                             owner.memory->used(), owner.user->used()});
        }
    }
    return found;
}
} // namespace mapi::daemon
