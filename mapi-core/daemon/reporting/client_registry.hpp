// SPDX-License-Identifier: MIT
// Client registry: the flows of all clients -> answers to queries from outside their sessions.
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
// Counts since the daemon started.
struct Tally {
    std::atomic<uint64_t> clients_refused =
        0; // too many clients, or no files, memory or thread for one
    std::atomic<uint64_t> limits_reached = 0; // of a client
    std::atomic<uint64_t> access_refused = 0;
};

struct FunctionSum {
    uint64_t packets = 0;
    uint64_t passed = 0;
};
using FunctionSums = std::map<std::string, FunctionSum>; // by function name

// Any thread.
class ClientRegistry
{
public:
    struct Entry {
        uint64_t client = 0;
        pid_t pid = 0;
        uid_t uid = 0;
        int number = 0; // the client's own number
        std::weak_ptr<engine::Flow> flow;
        // what functions of all of the client's flows could need, and its captures hold
        uint64_t client_bytes = 0;
        // the same for all clients of the user, plus their results and packets
        uint64_t user_bytes = 0;
    };

    // Registers a client for its lifetime.  user: memory quota of all clients of its user.
    uint64_t add_client(const Peer &peer, std::shared_ptr<engine::Quota> memory,
                        std::shared_ptr<engine::Quota> user);
    void remove_client(uint64_t client);
    void add_flow(uint64_t client, int number, const std::shared_ptr<engine::Flow> &flow);
    void remove_flow(uint64_t client, int number);

    size_t client_count();
    // What functions of all clients could need, and what their captures hold.
    uint64_t function_bytes();
    // The same plus results and packets, by user.
    std::map<uid_t, uint64_t> user_bytes();
    // Sums over existing flows and closed ones, with their final counts; the sums never decrease.
    FunctionSums function_sums();
    // Flows of one user, or of all users, starting at this client and number, in that order.
    std::vector<Entry> flows(std::optional<uid_t> user = {}, uint64_t client = 0, int number = 0,
                             size_t most = SIZE_MAX);
    double uptime_s() const
    {
        return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    }

    Tally tally;

private:
    struct Client {
        pid_t pid = 0;
        uid_t uid = 0;
        std::map<int, std::weak_ptr<engine::Flow>> flows;
        std::shared_ptr<engine::Quota> memory = {}, user = {};
    };

    static FunctionSums sum_up(const std::vector<std::shared_ptr<engine::Flow>> &flows);
    static void add(const FunctionSums &more, FunctionSums &sums);

    const std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
    std::mutex mutex_; // protects all members below
    uint64_t last_client_ = 0;
    std::map<uint64_t, Client> clients_;
    FunctionSums gone_; // sums of closed flows
    // last returned sums; a flow that is being closed may be counted longer by a query than by
    // gone_
    FunctionSums reported_;
};
} // namespace mapi::daemon
