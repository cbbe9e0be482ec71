// SPDX-License-Identifier: MIT
// Device: a thread that reads batches from a driver and runs the plan of the connected flows on
// them.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <unordered_map>
#include <vector>

#include <mapi/driver.h>
#include <mapi/results.h>

#include "engine/config/arguments.hpp"
#include "engine/config/settings.hpp"
#include "engine/memory/driver_memory.hpp"
#include "engine/node/node.hpp"
#include "engine/node/node_group.hpp"
#include "engine/packet_path/burst.hpp"
#include "engine/packet_path/chain.hpp"
#include "engine/packet_path/plan.hpp"
#include "engine/packet_path/shared_nodes.hpp"

namespace mapi::engine
{
struct Applied;
class Device;

// Called with each new plan of a device; must not block.  Any thread.
using PlanObserver = std::function<void(const Device &, const Plan &)>;

class Device
{
public:
    using Chains = std::vector<std::shared_ptr<Chain>>;

    // Opens the source; throws Error on failure.  No packet is read before start().  quota: for
    // the driver's memory.
    Device(int id, DeviceSettings settings, const mapi_driver &driver, bool start_at_connect,
           PlanObserver on_plan = {}, std::shared_ptr<Quota> quota = {});
    ~Device();
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    int id() const { return id_; }
    const DeviceSettings &settings() const { return settings_; }
    uint16_t link_type() const { return info_.link_type; }
    const std::shared_ptr<DeviceTotals> &totals() const { return totals_; }

    // Any thread.  Before start(): adds another capture.  file: a descriptor to read instead of
    // path, or -1.  Throws Error.
    void append(const std::string &path, int file);
    void start();
    bool has_started();
    std::shared_ptr<Node> make_node(const mapi_function &function, Arguments arguments,
                                    const std::shared_ptr<Client> &client,
                                    const FlowOptions &options);
    // For a function that is shared by step: the node of such a flow of the client that is not
    // connected yet, else a new one.
    std::shared_ptr<Node> join_node(const mapi_function &function, Arguments arguments,
                                    const std::shared_ptr<Client> &client,
                                    const FlowOptions &options);
    // Takes effect before it returns: packets that the driver reads afterwards belong to the flows.
    // One new plan serves all of them, so they begin with the same packet.
    void connect(const Chains &chains);
    // Returns when the flows have ended, though some of their files may not be written yet.  If
    // another flow's reader blocks the device's thread, it returns earlier and they end later.  One
    // new plan serves all of them.
    void disconnect(const Chains &chains);
    // Takes effect before the next packets of the device.  Returns when it is done, unless another
    // flow's reader blocks the device's thread.
    void reset(const std::shared_ptr<Chain> &chain, size_t position);
    // Like disconnect() for one function.  Returns its node, or null if the node continues for
    // other flows.
    std::shared_ptr<Node> remove(Applied &function);
    // False on timeout; timeout_ms < 0 waits forever.
    bool wait_while_active(Chain &chain, int timeout_ms);
    int count_other_users(const Node &node, const Chain &chain);
    // Where the node runs, as in mapi_function_info_t.
    std::string place_of(const Node &node);
    // Ends closed flows and frees plans that the device's thread no longer uses.  False if it still
    // uses some of them.
    bool free_retired();
    // own: drops of the caller's flows; null if the device has no other flows.
    void copy_stats(mapi_stat_t *stats, FlowDrops *own = nullptr);
    // Whether its driver can measure the cost of functions that it runs.
    bool has_cost() const { return driver_.offload && driver_.offload->cost; }
    // Where these functions run.
    const char *offload_place() const { return driver_.offload->place; }
    // As `cost` of mapi_driver_offload; one at a time.  Throws Error.
    void measure_cost(mapi_driver_cost &cost);

private:
    enum class State { kIdle, kRunning, kFinished };

    // Device's thread.
    void run();
    void flush();
    void begin();
    uint32_t burst_limit() const;
    bool run_burst();
    void wait_for_packet();
    void tick_after(uint64_t packet_ns);
    void tick(uint64_t now_ns);
    Plan &acquire_plan();
    void follow_plan();
    void finish_offload();
    void collect();
    void count_packets(const Plan &plan, uint64_t packets, uint64_t wire_bytes);
    Meter *meter();
    void release_plan()
    {
        if (!driver_.offload)
            plan_in_use_.store(nullptr, std::memory_order_release);
    }
    void finish();

    // A replaced plan, and the flows and functions that end with it.
    struct Retired {
        std::unique_ptr<Plan> plan;
        Chains closed;
        std::vector<std::shared_ptr<Node>> removed;
    };
    void merge_behind_used(std::vector<Retired> &superseded, const Plan *after);
    // failure: why a function could not write, or empty.
    mapi_function_drops sum_drops(std::string &failure);

    // Under mutex_.
    SharedNodes &shared_nodes();
    // all: the flows of the plan, including `chains`; own: the nodes of each of these.
    void activate(const Chains &chains, Chains all, const std::vector<Chain::Nodes> &own);
    void start_source();
    void start_thread();
    void install(Chains chains, const std::vector<std::shared_ptr<NodeGroup>> &groups,
                 Chains closed = {}, std::vector<std::shared_ptr<Node>> removed = {});
    // Any thread.
    template <class Predicate>
    void wait_a_little(Predicate is_done, std::chrono::milliseconds most);
    void set_filter(const Chains &chains);
    void set_prefilter(const mapi_prefilter *prefilter);

    // Thread that builds node groups, started by the first plan that needs one while packets
    // arrive.
    void make_groups_while_running();
    static std::vector<std::shared_ptr<NodeGroup>>
    make_groups(const std::vector<NodeGroup::Nodes> &sets);
    void use_groups(std::vector<std::shared_ptr<NodeGroup>> groups);

    const int id_;
    const DeviceSettings settings_;
    const mapi_driver &driver_;
    const bool start_at_connect_;
    const PlanObserver on_plan_;
    const std::unique_ptr<DriverMemory>
        memory_; // null: not charged, since the device is not a client's own
    std::atomic<bool> is_out_of_memory_ = false;
    void *source_ = nullptr;
    mapi_driver_info info_ = {};
    std::shared_ptr<DeviceTotals> totals_ = std::make_shared<DeviceTotals>();

    // Packet path; the thread's own.
    BurstBuffer burst_;
    uint64_t burst_number_ = 0;
    uint64_t last_tick_ns_ = 0;
    std::unique_ptr<Meter> meter_; // created for the first flow that measures functions
    std::atomic<uint64_t> packets_read_ = 0;
    std::atomic<uint64_t> bytes_read_ = 0;
    std::atomic<uint64_t> packets_without_flow_ = 0;

    // The plan that the thread uses, which must not be freed.
    alignas(64) std::atomic<Plan *> plan_in_use_ = nullptr;
    // The plan whose program the driver has activated, until the packets of the one in use have
    // been read; null with other drivers.
    std::atomic<Plan *> plan_after_ = nullptr;
    alignas(64) std::atomic<Plan *> plan_ = nullptr;
    std::atomic<bool> stop_ = false;

    std::mutex mutex_; // all below, and writing plan_
    State state_ = State::kIdle;
    bool has_begun_ = false;          // the thread has built the first node groups
    std::condition_variable changed_; // a flow ended or was closed
    std::unique_ptr<Plan> current_;   // owns the plan of plan_
    // Of each node, the chains of current_ that use it; empty: not counted yet.
    std::optional<std::unordered_map<const Node *, int>> users_;
    std::unique_ptr<SharedNodes> shared_; // of current_; null: since then nodes have left the plan
    std::shared_ptr<const Node> filter_;  // whose code the source uses
    std::vector<Retired> retired_;
    std::vector<std::weak_ptr<Node>> to_join_; // nodes shared by step
    std::vector<std::weak_ptr<Node>> nodes_;   // of all flows, for their drops
    mapi_function_drops reported_drops_ = {};  // as reported; never decrease
    std::thread thread_;
    std::thread group_thread_;
    std::condition_variable plan_changed_; // what group_thread_ waits for
};
} // namespace mapi::engine
