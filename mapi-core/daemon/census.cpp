// SPDX-License-Identifier: MIT
// Census: the flows of all clients.
#include "daemon/census.hpp"

namespace mapi::daemon
{
uint64_t Census::add_client()
{
    const std::lock_guard lock(mutex_);
    clients_[++last_client_];
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
    clients_.at(client)[number] = flow;
}

void Census::remove_flow(uint64_t client, int number)
{
    const std::lock_guard lock(mutex_);
    clients_.at(client).erase(number);
}

size_t Census::client_count()
{
    const std::lock_guard lock(mutex_);
    return clients_.size();
}

std::vector<Census::Entry> Census::flows()
{
    const std::lock_guard lock(mutex_);
    std::vector<Entry> all;
    for (const auto &[client, flows] : clients_) {
        for (const auto &[number, flow] : flows)
            all.push_back({client, number, flow});
    }
    return all;
}
} // namespace mapi::daemon
