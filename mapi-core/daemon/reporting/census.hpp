// SPDX-License-Identifier: MIT
// Census: the flows of all clients, for those who ask from outside of their sessions.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "daemon/session/policy.hpp"
#include "engine/flow.hpp"

namespace mapi::daemon
{
// What happened since the daemon began.
struct Tally {
    std::atomic<uint64_t> clients_refused = 0; // there were too many
    std::atomic<uint64_t> limits_reached = 0;  // of one client
    std::atomic<uint64_t> access_refused = 0;
};

struct FunctionSum {
    uint64_t packets = 0;
    uint64_t passed = 0;
};
using FunctionSums = std::map<std::string, FunctionSum>; // by the function's name

// Any thread.
class Census
{
public:
    struct Entry {
        uint64_t client = 0;
        pid_t pid = 0;
        uid_t uid = 0;
        int number = 0; // the client's own
        std::weak_ptr<engine::Flow> flow;
        uint64_t client_bytes = 0; // what functions of all flows of the client could need, and its captures hold
        uint64_t user_bytes = 0;   // the same of all clients of the user, with their results and packets
    };

    // Of a client, as long as it lives.  user: of memory, of all its user's clients.
    uint64_t add_client(const Peer &peer, std::shared_ptr<engine::Budget> memory, std::shared_ptr<engine::Budget> user);
    void remove_client(uint64_t client);
    void add_flow(uint64_t client, int number, const std::shared_ptr<engine::Flow> &flow);
    void remove_flow(uint64_t client, int number);

    size_t client_count();
    // What functions of all clients could need, and their captures hold.
    uint64_t function_bytes();
    // The same with results and packets, by user.
    std::map<uid_t, uint64_t> user_bytes();
    // Of the flows that are there and of those that are gone, as they were then: they only grow.
    FunctionSums function_sums();
    // Of one user or, without, of all; from this one on, by client and number.
    std::vector<Entry> flows(std::optional<uid_t> user = {}, uint64_t client = 0, int number = 0, size_t most = SIZE_MAX);
    double uptime_s() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

    Tally tally;

private:
    struct Client {
        pid_t pid = 0;
        uid_t uid = 0;
        std::map<int, std::weak_ptr<engine::Flow>> flows;
        std::shared_ptr<engine::Budget> memory = {}, user = {};
    };

    static FunctionSums sum_up(const std::vector<std::shared_ptr<engine::Flow>> &flows);
    static void add(const FunctionSums &more, FunctionSums &sums);

    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::mutex mutex_; // all below
    uint64_t last_client_ = 0;
    std::map<uint64_t, Client> clients_;
    FunctionSums gone_; // of flows
    FunctionSums told_; // last; a flow that is being closed may be counted for longer by who asks than by gone_
};
} // namespace mapi::daemon
