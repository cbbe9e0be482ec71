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
#include "engine/config/arguments.hpp"
#include "engine/flow_options.hpp"
#include "engine/memory/arena.hpp"
#include "engine/memory/ring_memory.hpp"
#include "engine/packet_path/burst.hpp"
#include "engine/packet_path/meter.hpp"
#include "engine/packet_path/publish_policy.hpp"
#include "engine/packet_path/published.hpp"

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
    // Throws Error if the function refuses its arguments, creates a ring that no reader can read,
    // or the client has no memory left.
    Node(const mapi_function &function, Arguments arguments, const mapi_driver_info &device,
         std::shared_ptr<DeviceTotals> totals, std::shared_ptr<Client> client,
         const FlowOptions &options);
    ~Node();
    Node(const Node &) = delete;
    Node &operator=(const Node &) = delete;

    // A result that this node refers to, in the order of its arguments; the plan keeps the views up
    // to date.
    struct Reference {
        Target target;
        mapi_reference view = {};
        std::shared_ptr<const void> kept =
            nullptr; // keeps view.words alive, but not their function, which may use much memory
    };
    std::vector<Reference> &references() { return references_; }
    bool refers_to(const Chain *chain, size_t position) const;
    // Whether a flow of the arguments has begun: the flow's word, and the copy that the function
    // reads.
    struct AwaitedFlow {
        const std::atomic<uint64_t> *begun;
        uint64_t *seen;
    };
    std::vector<AwaitedFlow> awaited_flows();
    // Batches must be run packet by packet while this node is in a plan.
    bool takes_single_packets() const { return takes_single_packets_; }

    // The memory is charged to the flow that the node was created for, which may end earlier, or
    // continue with a shared node.
    QuotaUse take_quota_use() { return std::move(quota_use_); }

    // Device's thread.  The masks of a batch are `stride` words after those of the previous one.
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
    // Any thread.  False if only run() can determine what passes.
    bool prefilter(const mapi_batch &batch, uint64_t &passed) const
    {
        return function_.prefilter(instance_, &batch, &passed) != 0;
    }
    bool can_prefilter() const { return function_.prefilter; }
    // Also called for packets that passed when the function ran in a node group.
    void count(uint64_t mask) { add(passed_, uint64_t(std::popcount(mask))); }
    // Of a node that transforms: the next packets that it has created.  False if there are no more.
    bool next_batch(mapi_batch &batch, Meter *meter)
    {
        NET_SLICE_START_AT(slice_);
        if (meter)
            meter->begin();
        const bool has_more = function_.next_batch(instance_, &batch) != 0;
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
    void publish() { published_.publish(result_->data()); }
    // After a burst or a tick, of a node whose result is copied for readers.
    void publish_when_due();
    const uint64_t *result_words() const { return in_place_ ? in_place_ : result_->data(); }
    // The memory of these words, which may outlive the node.
    std::shared_ptr<const void> result_memory() const
    {
        return in_place_ ? std::shared_ptr<const void>(published_memory_) : result_;
    }
    uint64_t first_word() const { return result_->empty() ? 0 : (*result_)[0]; }
    // The first word after packet i is in values[i] for each bit i of the return value.  After
    // run() with the same mask.
    uint64_t values(const mapi_batch &batch, uint64_t mask, uint64_t *values);
    // Whether the result is valid yet.
    bool has_value() const { return has_value_; }

    // Whether this node already does what `wanted` would do with the mask of `source`.
    bool can_serve(const Node *source, const Node &wanted) const
    {
        return source == source_ && &wanted.function_ == &function_ && is_shareable() &&
               wanted.arguments_ == arguments_;
    }
    bool is_shareable() const { return is_pure() || is_additive(); }
    bool is_pure() const { return has_flag(MAPI_FUNCTION_PURE); }
    bool is_additive() const { return has_flag(MAPI_FUNCTION_ADDITIVE); }
    bool passes_all() const { return has_flag(MAPI_FUNCTION_PASSES_ALL); }
    bool transforms() const { return has_flag(MAPI_FUNCTION_TRANSFORMS); }
    bool begins_meter() const { return has_flag(MAPI_FUNCTION_METER_BEGIN); }
    bool ends_meter() const { return has_flag(MAPI_FUNCTION_METER_END); }
    const MeterSum &meter_sum() const { return meter_sum_; }
    // The measurements that a meter function reads.
    mapi_perf_t &measured() { return measured_; }
    bool joins_any_masks() const { return has_flag(MAPI_FUNCTION_GROUP_OF_ANY_MASKS); }
    bool runs_every_batch() const { return has_flag(MAPI_FUNCTION_EVERY_BATCH); }
    // The node whose output mask is this node's input; null: the whole batch.  Set once, when the
    // first flow connects.
    void set_source(const Node *source) { source_ = source; }
    const Node *source() const { return source_; }

    // Into `copy`, which has room for the result's bytes as whole words.  Any thread.
    void read_result(uint64_t *copy) const
    {
        if (function_.read_result)
            function_.read_result(instance_, copy);
        else
            published_.read(copy);
    }

    const mapi_function &function() const { return function_; }
    void *instance() const { return instance_; }
    const Published &published() const { return published_; }
    size_t result_bytes() const { return published_.bytes(); }
    bool has_result() const { return result_bytes() > 0; }
    // One value, up to date after each burst.
    bool has_published_result() const
    {
        return has_result() && !is_in_place() && !has_results_in_ring();
    }
    bool has_results_in_ring() const { return has_flag(MAPI_FUNCTION_RESULTS_IN_RING) && ring_; }
    bool has_packets_in_ring() const { return has_flag(MAPI_FUNCTION_PACKETS_IN_RING); }
    // Null if the function has not created one.
    RingMemory *ring() const { return ring_.get(); }
    // Whether the device's thread waits while the ring is full.
    bool waits_for_reader() const { return ring_ && ring_->writer_waits(); }
    // True if its state is only counts, or its table has reset().
    bool can_be_reset() const { return is_shareable() || function_.reset; }
    bool is_in_place() const { return has_flag(MAPI_FUNCTION_RESULT_IN_PLACE); }
    bool is_copied() const { return has_result() && has_flag(MAPI_FUNCTION_RESULT_COPIED); }
    bool is_composed() const { return function_.compose_result && ring_; }
    // Packets that came in while any flow had its source: only differences are meaningful.  They
    // are not counted at the node itself, so a filter without packets in a batch costs nothing.
    uint64_t seen() const
    {
        return source_ ? source_->passed() : totals_->packets.load(std::memory_order_relaxed);
    }
    uint64_t passed() const { return passed_.load(std::memory_order_relaxed); }

    // A BPF program that accepts at least the packets that pass; 0 instructions if there is none.
    uint32_t classic_bpf(uint16_t link_type, const mapi_filter_code **code) const
    {
        return function_.classic_bpf ? function_.classic_bpf(instance_, link_type, code) : 0;
    }
    // Only the first call has an effect.
    void end();
    bool has_ended() const { return has_ended_; }
    bool is_settled() const
    {
        return !has_ended_ || !function_.is_settled || function_.is_settled(instance_) != 0;
    }
    void cancel();
    mapi_function_drops drops() const;
    // "FUNCTION: file: reason" of a failed write; empty if there was none.
    std::string failure(const mapi_function_drops &drops) const;

private:
    static uint64_t *allocate_result(const mapi_function_setup *setup, uint32_t bytes);
    static void take_single_packets(const mapi_function_setup *setup);
    static mapi_ring *make_ring(const mapi_function_setup *setup, const mapi_ring_options *options);
    static int reserve_memory(const mapi_function_setup *setup, uint64_t bytes);
    uint64_t *take_result(uint32_t bytes);
    static void *common_object(const mapi_function_setup *setup, const mapi_common_object *kind);
    std::string missing_memory() const;
    void check_ring_is_read();
    static const mapi_ring_calls kRingCalls;
    bool has_flag(mapi_function_flags flag) const { return (function_.flags & flag) != 0; }

    // One writer: a plain atomic store is enough, no locked instruction.
    static void add(std::atomic<uint64_t> &counter, uint64_t packets)
    {
        counter.store(counter.load(std::memory_order_relaxed) + packets, std::memory_order_relaxed);
    }

    const mapi_function &function_;
    void *instance_ = nullptr;
    struct nsp_slice *const slice_;
    std::atomic<uint64_t> passed_ = 0;
    const Node *source_ = nullptr;
    const std::shared_ptr<std::vector<uint64_t>>
        result_;                     // written by the function, published by publish()
    std::shared_ptr<Client> client_; // only during create(): the node may outlive it
    QuotaUse quota_use_;             // until the flow takes it
    uint64_t wanted_bytes_ = 0;      // of the refused memory request; 0: none was refused
    std::vector<std::shared_ptr<void>> common_objects_; // used by the function
    const uint64_t buffer_bytes_;                       // 0: the function's default
    std::shared_ptr<ArenaBlock> published_memory_;
    Published published_;
    uint64_t *in_place_ = nullptr; // in published_; null: the function writes to result_
    PublishPolicy policy_;         // of a result that is copied for readers
    std::unique_ptr<RingMemory> ring_;
    MeterSum meter_sum_ = {};
    mapi_perf_t measured_ = {};
    bool takes_single_packets_ = false;
    std::atomic<bool> is_ending_ = false;
    std::atomic<bool> has_ended_ = false;
    const Arguments arguments_;
    std::vector<Reference> references_;
    const std::vector<const mapi_reference *> reference_views_; // as passed in arguments
    std::vector<uint64_t> flows_seen_; // which of the arguments' flows have begun, in their order
    const std::vector<const uint64_t *>
        flow_expression_; // pointers to these, as passed in arguments
    const std::shared_ptr<DeviceTotals> totals_;
    bool has_value_;
};
} // namespace mapi::engine
