// SPDX-License-Identifier: MIT
// Device: one thread that takes batches from a driver and runs the plan of the connected flows on each.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <mapi/driver.h>
#include <mapi/results.h>

#include "engine/config/arguments.hpp"
#include "engine/packet_path/burst.hpp"
#include "engine/memory/driver_memory.hpp"
#include "engine/packet_path/joint.hpp"
#include "engine/packet_path/node.hpp"
#include "engine/packet_path/plan.hpp"
#include "engine/config/settings.hpp"

namespace mapi::engine
{
struct Applied;
class Device;

// Who is told of each new plan of a device, which it shall not hold up; any thread.
using PlanObserver = std::function<void(const Device &, const Plan &)>;

class Device
{
public:
    using Chains = std::vector<std::shared_ptr<Chain>>;

    // Opens the source; throws Error when that fails.  No packet is read before start().  budget: of what the driver holds.
    Device(int id, DeviceSettings settings, const mapi_driver &driver, bool start_at_connect, PlanObserver on_plan = {},
           std::shared_ptr<Budget> budget = {});
    ~Device();
    Device(const Device &) = delete;
    Device &operator=(const Device &) = delete;

    int id() const { return id_; }
    const DeviceSettings &settings() const { return settings_; }
    uint16_t link_type() const { return info_.link_type; }
    const std::shared_ptr<DeviceTotals> &totals() const { return totals_; }

    // Any thread.  Before start(): this capture is read, too.  file: -1, or to read instead of path.  Throws Error.
    void append(const std::string &path, int file);
    void start();
    bool has_started();
    std::shared_ptr<Node> make_node(const mapi_function &function, Arguments arguments, const std::shared_ptr<Client> &client, const FlowOptions &options);
    // At once: packets that the driver reads after the return are the flow's, or are no longer.
    void connect(const std::shared_ptr<Chain> &chain);
    // Returns when the flows have ended, though not all of their files are written; but where another flow's reader holds the device's
    // thread up, that comes later.  All at once: a plan is made once.
    void disconnect(const Chains &chains);
    // Before the next packets of the device; returns when it is done, but where another flow's reader holds the device's thread up.
    void reset(const std::shared_ptr<Chain> &chain, size_t position);
    // As disconnect() of one function.  Its node, or null where that goes on for other flows.
    std::shared_ptr<Node> remove(Applied &function);
    // False when the time is up; timeout_ms < 0 waits for ever.
    bool wait_while_active(Chain &chain, int timeout_ms);
    int count_other_users(const Node &node, const Chain &chain);
    // Ends flows that are closed and frees plans, as far as the device's thread has left them.  False: it has not left all of them.
    bool free_retired();
    // own: what the asker's flows dropped; null: they are all that the device has.
    void copy_stats(mapi_stat_t *stats, FlowDrops *own = nullptr);

private:
    enum class State { kIdle, kRunning, kFinished };

    // Device's thread.
    void run();
    void flush();
    void begin();
    bool run_burst();
    void wait_for_packet();
    void tick_after(uint64_t packet_ns);
    void tick(uint64_t now_ns);
    Plan &acquire_plan();
    Meter *meter();
    void release_plan() { plan_in_use_.store(nullptr, std::memory_order_release); }
    void finish();

    // A plan that is replaced, and the flows whose close replaced it, which are to end.
    struct Retired {
        std::unique_ptr<Plan> plan;
        Chains closed;
        std::vector<std::shared_ptr<Node>> removed;
    };
    void merge_behind_used(std::vector<Retired> &superseded);
    // failure: why a function could not write, or empty.
    mapi_function_drops sum_drops(std::string &failure);

    // Under mutex_.
    void start_source();
    void start_thread();
    void install(Chains chains, std::vector<std::shared_ptr<Joint>> joints, Chains closed = {},
                 std::vector<std::shared_ptr<Node>> removed = {});
    // Any thread.
    template <class Predicate> void wait_a_little(Predicate is_done);
    void set_filter();
    void set_prefilter(const mapi_prefilter *prefilter);

    // Thread of the joints, from the first plan on that wants one while packets come.
    void make_joints_while_running();
    static std::vector<std::shared_ptr<Joint>> make_joints(const std::vector<Joint::Nodes> &sets);
    void use_joints(std::vector<std::shared_ptr<Joint>> joints);

    const int id_;
    const DeviceSettings settings_;
    const mapi_driver &driver_;
    const bool start_at_connect_;
    const PlanObserver on_plan_;
    const std::unique_ptr<DriverMemory> memory_; // null: nobody counts, since it is no client's own
    std::atomic<bool> is_out_of_memory_ = false;
    void *source_ = nullptr;
    mapi_driver_info info_ = {};
    std::shared_ptr<DeviceTotals> totals_ = std::make_shared<DeviceTotals>();

    // Packet path; the thread's own.
    BurstBuffer burst_;
    uint64_t burst_number_ = 0;
    uint64_t last_tick_ns_ = 0;
    std::unique_ptr<Meter> meter_; // from the first flow on that measures functions
    std::atomic<uint64_t> packets_read_ = 0;
    std::atomic<uint64_t> bytes_read_ = 0;
    std::atomic<uint64_t> packets_without_flow_ = 0;

    // The thread shows here which plan it works with, so that nobody frees it.
    alignas(64) std::atomic<Plan *> plan_in_use_ = nullptr;
    alignas(64) std::atomic<Plan *> plan_ = nullptr;
    std::atomic<bool> stop_ = false;

    std::mutex mutex_; // all below, and writing plan_
    State state_ = State::kIdle;
    bool has_begun_ = false; // the thread: it has made the first joints
    std::condition_variable changed_; // a flow ended or was closed
    std::unique_ptr<Plan> current_;   // owns what plan_ shows
    std::shared_ptr<const Node> filter_; // whose code the source has
    std::vector<Retired> retired_;
    std::vector<std::weak_ptr<Node>> nodes_; // of all flows, for their drops
    mapi_function_drops told_drops_ = {};    // which only grow
    std::thread thread_;
    std::thread joint_thread_;
    std::condition_variable plan_changed_; // what joint_thread_ waits for
};
} // namespace mapi::engine
