// SPDX-License-Identifier: MIT
// Census: the flows of all clients, for those who ask from outside of their sessions.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "engine/flow.hpp"

namespace mapi::daemon
{
// What happened since the daemon began.
struct Tally {
    std::atomic<uint64_t> clients_refused = 0; // there were too many
    std::atomic<uint64_t> limits_reached = 0;  // of one client
    std::atomic<uint64_t> access_refused = 0;
};

// Any thread.
class Census
{
public:
    struct Entry {
        uint64_t client = 0;
        int number = 0; // the client's own
        std::weak_ptr<engine::Flow> flow;
    };

    // Of a client, as long as it lives.
    uint64_t add_client();
    void remove_client(uint64_t client);
    void add_flow(uint64_t client, int number, const std::shared_ptr<engine::Flow> &flow);
    void remove_flow(uint64_t client, int number);

    size_t client_count();
    std::vector<Entry> flows();
    double uptime_s() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

    Tally tally;

private:
    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::mutex mutex_; // all below
    uint64_t last_client_ = 0;
    std::map<uint64_t, std::map<int, std::weak_ptr<engine::Flow>>> clients_;
};
} // namespace mapi::daemon
