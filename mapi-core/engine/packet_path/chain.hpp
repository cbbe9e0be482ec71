// SPDX-License-Identifier: MIT
// Chain: the functions of one flow in order; the part of a flow that the device uses.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include <mapi/results.h>

#include "engine/flow_drops.hpp"
#include "engine/node/composed_result.hpp"
#include "engine/node/node.hpp"
#include "engine/packet_path/since_last.hpp"
#include "ring/record_source.hpp"

namespace mapi::engine
{
class SharedNodes;

// A function of the flow.  Its node may serve other flows too: the flow's share is the node's count
// since the flow joined.
struct Applied {
    std::shared_ptr<Node> node;
    QuotaUse charge; // for the node; every flow that shares it is charged
    uint64_t joined_result =
        0; // value of a shared count when the flow joined, for references to it
    // Counts when the flow joined, or at its last reset.  A reader loads the base first: the count
    // itself only grows.
    std::atomic<uint64_t> base_result = 0;
    std::atomic<uint64_t> base_seen = 0;
    std::atomic<uint64_t> base_passed = 0;
    std::atomic<bool> is_removed =
        false; // gets no more packets; its memory stays until the flow closes
    std::atomic<uint32_t> reset_asked = 0;     // number of the last request of the flow for it
    std::vector<std::atomic<uint64_t>> result; // what mapi_read_results() points to
    const bool
        is_share_of_word; // one word of the node, not produced by the function itself for a reader
    mapi_results_t results = {};
    std::unique_ptr<SinceLast> since_last;       // for results=since_last; null: total
    std::unique_ptr<ring::RecordSource> records; // null: the function has no ring
    ComposedResult composed;                     // under the lock of `records`
    bool is_read_elsewhere = false;              // by a client in another process

    // Of a function that ends a meter: the functions it measures, and their sums when the flow
    // joined.
    struct Metered {
        std::shared_ptr<Node> node;
        MeterSum base = {};
    };
    std::vector<Metered> metered;
    std::shared_ptr<Node> meter_begin;
    uint64_t base_metered_packets = 0;
    // Device's thread, before the function runs.
    void show_measured(const Meter &meter);

    // For a client in another process: the flow's share of the result, copied there after each
    // burst.
    ArenaBlock mirror_memory;
    Published mirror;

    explicit Applied(std::shared_ptr<Node> n);
    void make_mirror(const std::shared_ptr<Arena> &arena);
    // Called by the thread that publishes the node's result.
    void publish_mirror();
    // Of a single word: without counts from before the flow joined.
    uint64_t share() const;
    uint64_t seen() const;
    uint64_t passed() const;
    // Whether its ring, which has ended, still holds packets, or results if the reader has already
    // taken some.
    bool has_left();
    // Of a shared node: without drops from before the flow joined.  Client's thread.
    mapi_function_drops drops(bool has_joined) const;
    mapi_function_drops base_drops = {}; // set once, when the flow joins
    // Device's thread, or any thread if that does not run.
    void rebase();
    void reset();
};

// Functions are appended until it is connected; then they are fixed.
class Chain
{
public:
    using Nodes = std::vector<std::shared_ptr<Node>>; // of each function

    // drops: sums up the drops of its functions; may be null.
    explicit Chain(std::shared_ptr<Arena> arena, std::shared_ptr<FlowDrops> drops = {});
    ~Chain();
    Chain(const Chain &) = delete;
    Chain &operator=(const Chain &) = delete;

    void append(std::shared_ptr<Node> node);
    // Before it is connected: the same function with a node of its own.
    void replace_first(std::shared_ptr<Node> node) { functions_.front()->node = std::move(node); }
    const std::vector<std::unique_ptr<Applied>> &functions() const { return functions_; }

    // Of all functions, including removed ones.  Client's thread, or the last owner's.
    mapi_function_drops drops() const;
    int count_transforms() const;
    int count_present() const;
    // Whether a function gets all packets of the device.
    bool watches() const;
    // Null if all functions were removed.
    Applied *first() const;
    // The function that begins the meter that `end` ends, or -1.  `end` need not be appended yet.
    int find_meter_begin(size_t end) const;
    // Throws Error if other functions need the function's packets or its result.
    void check_removable(size_t position) const;

    // As reported to programs: finished only after readers have taken all that is left for them.
    mapi_flow_status reported_status() const;
    mapi_flow_status status() const { return status_.load(std::memory_order_acquire); }
    bool is_closed_unconnected() const { return status() == FLOW_CLOSED && start_us() == 0; }
    uint64_t start_us() const { return start_us_.load(std::memory_order_relaxed); }
    uint64_t end_us() const { return end_us_.load(std::memory_order_relaxed); }
    // The status as a futex word for a client in another process; null for one in this process.  If
    // the flow had finished before it was closed, it stays FLOW_FINISHED: the client has complete
    // data.
    const std::atomic<uint32_t> *shown_status() const { return shown_status_; }
    // Whether the device's thread has set the bases.
    bool has_joined() const { return joined_.load(std::memory_order_acquire); }
    // The same as a word, which does not keep the flow alive.
    FlowBegun begun() const { return begun_; }

    // Client's thread, under the device's lock.
    Nodes nodes() const;
    void activate(SharedNodes &shared);
    // Undoes activate() of a flow that is in no plan; with the nodes that it had before.
    void deactivate(const Nodes &nodes);
    void ask_for_reset(size_t position);
    // How often it was called: a plan that is made now begins with these resets.
    uint32_t resets_asked() const { return resets_asked_.load(std::memory_order_acquire); }
    bool has_reset() const
    {
        return resets_done_.load(std::memory_order_acquire) == resets_asked();
    }
    // First the flow is closed, so that no reader takes further packets for its own; then it leaves
    // the plan; then cancel() wakes its readers.
    void close();
    void cancel();
    // Device's thread, or any thread if that does not run.  resets: those that the plan begins
    // with.
    void join(uint32_t resets);
    void reset(uint32_t resets);
    // Any thread: no more packets will come.  Does not wait.
    void end();
    // Before it is connected: a callback that end() runs, on any thread, if work is left for
    // settle().
    void set_on_end(std::function<void()> on_end) { on_end_ = std::move(on_end); }
    bool has_ended() const { return has_ended_.load(std::memory_order_acquire); }
    // Keeps an object alive until its functions are no longer used.
    void keep(std::shared_ptr<const void> thing) { kept_ = std::move(thing); }
    // Any thread.  True once everything that end() started is done, such as writing files; then the
    // flow is finished.
    bool settle();

private:
    void use_shared_nodes(SharedNodes &shared);
    void find_metered();
    void show_status();

    const std::shared_ptr<Arena> arena_;
    const std::shared_ptr<FlowDrops> drops_;
    ArenaBlock status_memory_;
    std::atomic<uint32_t> *shown_status_ = nullptr;
    std::function<void()> on_end_;
    std::shared_ptr<const void> kept_; // before functions_, so that it is destroyed after them
    std::vector<std::unique_ptr<Applied>> functions_;
    std::atomic<mapi_flow_status> status_ = FLOW_INIT;
    std::atomic<bool> joined_ = false;
    const std::shared_ptr<std::atomic<uint64_t>> begun_ =
        std::make_shared<std::atomic<uint64_t>>(0);
    std::atomic<uint32_t> resets_asked_ = 0;
    std::atomic<uint32_t> resets_done_ = 0;
    std::atomic<bool> is_ending_ = false;
    std::atomic<bool> has_ended_ = false;
    std::atomic<uint64_t> start_us_ = 0;
    std::atomic<uint64_t> end_us_ = 0;
};
} // namespace mapi::engine
