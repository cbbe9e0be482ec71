// SPDX-License-Identifier: MIT
// Node: one function with its arguments at one place of the device's plan; one mask in, one mask
// out.
#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <mapi/driver.h>
#include <mapi/function.h>
#include <nsprobe/probe.h>

#include "engine/client.hpp"
#include "engine/flow_options.hpp"
#include "engine/memory/quota.hpp"
#include "engine/node/function_traits.hpp"
#include "engine/node/node_arguments.hpp"
#include "engine/node/node_output.hpp"
#include "engine/node/watcher.hpp"
#include "engine/packet_path/burst.hpp"
#include "engine/packet_path/meter.hpp"

namespace mapi::engine
{
class Chain;

// Counters of a device for its nodes.  Drops are those of destroyed nodes, so that closing a flow
// loses none.
struct DeviceTotals {
    std::atomic<uint64_t> packets = 0; // that entered the first stage of a plan
    std::atomic<uint64_t> buffer_full = 0;
    std::atomic<uint64_t> link_type = 0;
    std::atomic<uint64_t> not_written = 0;

    // Reason of the last failed write of a function.
    void tell_failure(std::string text)
    {
        const std::lock_guard lock(mutex_);
        failure_ = std::move(text);
    }
    std::string failure() const
    {
        const std::lock_guard lock(mutex_);
        return failure_;
    }

private:
    mutable std::mutex mutex_;
    std::string failure_;
};

class Node : public std::enable_shared_from_this<Node>
{
public:
    // Throws Error if the function refuses its arguments, makes a ring that no reader can read, or
    // the client has no memory left.
    Node(const mapi_function &function, Arguments arguments, const mapi_driver_info &device,
         std::shared_ptr<DeviceTotals> totals, const std::shared_ptr<Client> &client,
         const FlowOptions &options);
    ~Node();
    Node(const Node &) = delete;
    Node &operator=(const Node &) = delete;

    const mapi_function &function() const { return function_; }
    FunctionTraits traits() const { return FunctionTraits(function_); }
    void *instance() const { return instance_; }
    NodeArguments &arguments() { return arguments_; }
    const NodeArguments &arguments() const { return arguments_; }
    NodeOutput &output() { return output_; }
    const NodeOutput &output() const { return output_; }
    // Batches must be run packet by packet while this node is in a plan.
    bool takes_single_packets() const { return takes_single_packets_; }
    // It, and the nodes after it, run packet by packet and in the flows' order, after all others.
    bool runs_in_order() const { return runs_in_order_; }
    // Objects of the function that see all packets of the device.
    const Watchers &watchers() const { return watchers_; }
    // The memory is charged to the flow that the node was created for, which may end earlier, or
    // continue with a shared node.
    // A node that is shared by step keeps the charge.
    QuotaUse take_quota_use()
    {
        return traits().is_shared_by_step() ? QuotaUse() : std::move(quota_use_);
    }
    uint64_t kept_charge() const { return traits().is_shared_by_step() ? quota_use_.amount() : 0; }

    // Packets, on the device's thread.

    // The masks of a batch are `stride` words after those of the previous one.
    void run(Burst burst, const uint64_t *inputs, uint64_t *outputs, size_t stride)
    {
        uint64_t any = 0;
        for (size_t i = 0; i < burst.size(); ++i) {
            any |= inputs[i * stride];
            outputs[i * stride] = 0;
        }
        if (any == 0)
            return;
        if (burst.size() == 1) { // without the loop, which would be part of the slice
            *outputs = run(burst.front(), any);
            return;
        }
        NET_SLICE_START_AT(slice_);
        for (size_t i = 0; i < burst.size(); ++i) {
            if (const uint64_t mask = inputs[i * stride])
                outputs[i * stride] = function_.process(instance_, &burst[i], mask);
        }
        NET_SLICE_STOP_AT(slice_);
        uint64_t passed = 0;
        for (size_t i = 0; i < burst.size(); ++i)
            passed += uint64_t(std::popcount(outputs[i * stride]));
        add(passed_, passed);
    }
    uint64_t run(const mapi_batch &batch, uint64_t mask)
    {
        NET_SLICE_START_AT(slice_);
        const uint64_t passed = function_.process(instance_, &batch, mask);
        NET_SLICE_STOP_AT(slice_);
        count(passed);
        return passed;
    }
    // The same, and adds its cost to the node's sum.
    uint64_t run_metered(const mapi_batch &batch, uint64_t mask, Meter &meter)
    {
        NET_SLICE_START_AT(slice_);
        meter.begin();
        const uint64_t passed = function_.process(instance_, &batch, mask);
        meter.end(meter_sum_);
        NET_SLICE_STOP_AT(slice_);
        count(passed);
        return passed;
    }
    // For all packets.  Batches may carry prefilter results of the plan with this number; those of
    // this node are at `place`.
    void run_prefiltered(Burst burst, uint64_t *outputs, size_t stride, uint64_t plan,
                         uint32_t place);
    // Of a node that can prefilter.  Any thread.  False if only run() can determine what passes.
    bool prefilter(const mapi_batch &batch, uint64_t &passed) const
    {
        return function_.filter->prefilter(instance_, &batch, &passed) != 0;
    }
    // Whether a driver could run this function on packets of this link type, and as what.
    bool describe(uint16_t link_type, mapi_offload_step &step) const
    {
        return function_.offload && function_.offload->describe(instance_, link_type, &step) != 0;
    }
    // Its flow's options require that the engine runs it.
    bool is_in_engine() const { return options_.is_in_engine; }
    // Under the device's lock: its state is now in the engine, and no driver knows it.
    void stay_in_engine() { stays_in_engine_ = true; }
    bool stays_in_engine() const { return stays_in_engine_; }
    // Under the device's lock: by this number a driver finds the state of this node, which begins
    // again with the next plan after renew_state().
    uint64_t state_number() const { return state_number_; }
    void renew_state() { state_number_ = next_state_number(); }
    // Packets that passed when the driver ran the function.
    void add_offloaded(const mapi_offload_count &passed)
    {
        add(passed_, passed.packets);
        if (function_.offload->add)
            function_.offload->add(instance_, passed.packets, passed.wire_bytes);
    }
    // What the driver knows about them.
    void follow_offloaded(const mapi_offload_state &state)
    {
        if (function_.offload->follow)
            function_.offload->follow(instance_, &state);
    }
    // Also called for packets that passed when the function ran in a node group.
    void count(uint64_t mask) { add(passed_, uint64_t(std::popcount(mask))); }
    // Of a node that transforms: the next packets that it has created.  False if there are no more.
    bool next_batch(mapi_batch &batch, Meter *meter)
    {
        NET_SLICE_START_AT(slice_);
        if (meter)
            meter->begin();
        const bool has_more = function_.transform->next_batch(instance_, &batch) != 0;
        if (meter)
            meter->end(meter_sum_);
        NET_SLICE_STOP_AT(slice_);
        if (has_more)
            count(batch.all);
        return has_more;
    }
    void flush();
    void tick(uint64_t now_ns);
    // Of a node that is not shared.
    void reset();
    // After a burst or a tick, of a node whose result is copied for readers.
    void publish_when_due();
    // The first word of the result after packet i is in values[i] for each bit i of the return
    // value.  After run() with the same mask.
    uint64_t values(const mapi_batch &batch, uint64_t mask, uint64_t *values);
    // Whether the result is valid yet.
    bool has_value() const { return has_value_; }
    const MeterSum &meter_sum() const { return meter_sum_; }
    // The measurements that a meter function reads.
    mapi_perf_t &measured() { return measured_; }

    // The place in the plan.

    // Whether this node already does what `wanted` would do with the mask of `source`.
    bool can_serve(const Node *source, const Node &wanted) const
    {
        return source == source_ && &wanted.function_ == &function_ && traits().is_shareable() &&
               wanted.arguments_ == arguments_ && wanted.is_in_engine() == is_in_engine() &&
               wanted.watchers_ == watchers_ && !runs_in_order_;
    }
    // Of a node that is shared by step: a flow joins it in the step with this number, from 1. False
    // if flows of another step use it.
    bool join_step(uint64_t step)
    {
        uint64_t none = 0;
        const bool is_joined = step_.compare_exchange_strong(none, step) || none == step;
        users_ += is_joined ? 1 : 0;
        return is_joined;
    }
    bool has_step() const { return step_ != 0; }
    // A flow ends, or no longer uses it.  False if other flows continue to use it.
    bool leave() { return users_ == 0 || --users_ == 0; }
    const std::shared_ptr<Client> &client() const { return client_; }
    const FlowOptions &options() const { return options_; }
    // The node whose output mask is this node's input; null: the whole batch.  Set once, when the
    // first flow connects.
    void set_source(const Node *source) { source_ = source; }
    const Node *source() const { return source_; }
    // A BPF program that accepts at least the packets that pass; 0 instructions if there is none.
    uint32_t classic_bpf(uint16_t link_type, const mapi_filter_code **code) const;

    // Counts and the end, on any thread.

    // Packets that came in while any flow had its source: only differences are meaningful.  They
    // are not counted at the node itself, so a filter without packets in a batch costs nothing.
    uint64_t seen() const
    {
        return source_ ? source_->passed() : totals_->packets.load(std::memory_order_relaxed);
    }
    uint64_t passed() const { return passed_.load(std::memory_order_relaxed); }
    // The result, into `copy`, which has room for its bytes as whole words.
    void read_result(uint64_t *copy) const;
    mapi_function_drops drops() const;
    // "FUNCTION: file: reason" of a failed write; empty if there was none.
    std::string failure(const mapi_function_drops &drops) const;
    // Only the first call has an effect.
    void end();
    bool has_ended() const { return has_ended_; }
    bool is_settled() const;
    void cancel();

private:
    static uint64_t next_state_number();
    // One writer: a plain atomic store is enough, no locked instruction.
    static void add(std::atomic<uint64_t> &counter, uint64_t packets)
    {
        counter.store(counter.load(std::memory_order_relaxed) + packets, std::memory_order_relaxed);
    }

    // What run() reads stands together.
    const mapi_function &function_;
    void *instance_ = nullptr;
    struct nsp_slice *const slice_;
    std::atomic<uint64_t> passed_ = 0;
    const Node *source_ = nullptr;
    const std::shared_ptr<DeviceTotals> totals_;
    const std::shared_ptr<Client> client_; // null: only one that is shared by step has it
    const FlowOptions options_;
    bool has_value_;

    NodeArguments arguments_;
    NodeOutput output_;
    MeterSum meter_sum_ = {};
    mapi_perf_t measured_ = {};
    QuotaUse quota_use_;                                // until the flow takes it
    std::vector<std::shared_ptr<void>> common_objects_; // used by the function
    Watchers watchers_;
    bool takes_single_packets_ = false;
    bool runs_in_order_ = false;
    bool stays_in_engine_ = false;
    uint64_t state_number_ = next_state_number();
    std::atomic<uint64_t> step_ = 0;
    std::atomic<uint32_t> users_ = 0; // flows, if it is shared by step
    std::atomic<bool> is_ending_ = false;
    std::atomic<bool> has_ended_ = false;
};
} // namespace mapi::engine
