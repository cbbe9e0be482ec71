// SPDX-License-Identifier: MIT
// Plan: the connected flows of a device -> their distinct functions, in an order in which each
// finds its input ready.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <span>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <mapi/driver.h>
#include <mapi/function.h>

#include "engine/node/node.hpp"
#include "engine/node/node_group.hpp"
#include "engine/packet_path/burst.hpp"
#include "engine/packet_path/group_policy.hpp"
#include "engine/packet_path/offload.hpp"

namespace mapi::engine
{
class Chain;
struct Applied;

// A stage is the part of a plan that one stream of packets goes through: the device's stream, and
// the output of each function that creates packets.  A plan is never changed once it is built;
// connect and close build a new one.  Its masks are scratch memory of the device's thread.
class Plan
{
public:
    // offload: a driver that can run functions before packets are read, or null.
    Plan(std::vector<std::shared_ptr<Chain>> chains,
         const std::vector<std::shared_ptr<NodeGroup>> &groups,
         const OffloadTarget *offload = nullptr);

    // Device's thread.  join() once, before the first run(): new flows record the values of shared
    // counters.
    void join(Meter *meter);
    // Whether a flow measures functions, so that join() needs a meter (nullptr if there is none).
    bool wants_meter() const { return !metered_.empty(); }
    void run(Burst burst);
    // Called when no packet came for a while.
    void tick(uint64_t now_ns);
    // After the end of the source: functions pass packets that they hold to those after them.
    void flush();
    void publish();

    bool has_joined() const { return joined_; }
    const std::vector<std::shared_ptr<Chain>> &chains() const { return chains_; }
    // The number of distinct functions.
    size_t count_nodes() const { return nodes_.size(); }
    // Distinct ones.
    const std::vector<std::shared_ptr<Node>> &nodes() const { return nodes_; }
    // Nodes that could run in a branch, one set for each branch to build; no set for a branch that
    // already has exactly these nodes.
    const std::vector<NodeGroup::Nodes> &ungrouped() const { return ungrouped_; }
    // A function gets all packets in addition to those that its flow's functions let pass.
    bool watches() const { return !watchers_.empty(); }
    // For a driver that runs functions in a thread of its own; null if there is nothing to run.  It
    // lives as long as the plan.
    const mapi_prefilter *prefilter() const
    {
        return prefiltered_.empty() && prefiltered_groups_.empty() ? nullptr : &prefilter_;
    }
    // Where the node runs, as in mapi_function_info_t.
    std::string place_of(const Node &node) const;
    // The program of the driver; null if it cannot run functions.
    OffloadProgram *offload() const { return offload_.get(); }
    // The branches passed to the constructor that have some of its nodes, one for each set.
    const std::vector<std::shared_ptr<NodeGroup>> &groups() const { return groups_; }

private:
    static constexpr uint32_t kNone = ~0u;
    static constexpr uint32_t kInTail = kNone - 1; // instead of a root

    // Location of a mask.
    struct Place {
        uint32_t stage = 0;
        uint32_t mask = 0;
    };
    struct Step {
        Node *node;
        uint32_t input;       // index into the stage's masks
        bool is_plain = true; // mask in, mask out; the following members are for other steps
        uint32_t transformed = kNone; // the stage of the packets that the node creates
        uint32_t referred = kNone;    // index into referred_; kNone: no function refers to the node
        uint32_t first_reference = 0;
        uint32_t references = 0;
        bool is_ordered = false;      // runs in order, or is after such a node
        uint32_t prefiltered = kNone; // index into a prefilter's result
        uint32_t offloaded = kNone;   // the driver runs it: index into the verdicts of its packets
        bool has_result = false;
        bool is_metered = false;
        Applied *meter_end = nullptr; // null unless the function ends a meter
        const std::pmr::vector<Applied *> *mirrors = nullptr; // null: none
    };
    // A node of a node branch, and all steps after it up to those of other node branches: they run
    // only if the node let packets pass.
    struct Branch {
        const Step *first = nullptr; // null: its flow is closed
        uint32_t steps = 0;
        uint32_t mask = 0;       // of the first one
        bool has_run = false;    // since the last publish()
        uint32_t first_feed = 0; // index into the stage's feeds
        uint32_t feeds = 0;
    };
    // A mask of a step of a Branch that is the input of a later node branch, or of a Tail.  It is
    // zero except in a batch in which the Branch ran.
    struct Feed {
        uint32_t mask;
        uint32_t group; // index into the stage's node branches; kNone: of a Tail
        uint32_t input; // index into the node branch's inputs
    };
    // An input mask of a node branch, and the nodes that use it.
    struct GroupInput {
        uint32_t mask;
        uint32_t first_node; // in by_input
        uint32_t nodes;
    };
    struct GroupStep {
        NodeGroup *group;                    // one of groups_
        std::vector<Branch> branches;        // one for each node
        std::vector<GroupInput> inputs = {}; // those that are not masks of a Branch come first
        uint32_t steady_inputs = 0;
        std::vector<uint32_t> by_input = {}; // indices of nodes, sorted by input
        std::vector<uint32_t> fed = {};      // inputs from Groups that have packets in this batch
        std::vector<mapi_group_input> active = {}; // those with packets in this batch
        GroupPolicy policy = {};
        uint32_t prefiltered = kNone; // index into a prefilter's result
    };
    // A node that runs in order, and the steps after it.
    struct Tail {
        uint32_t first; // index into the stage's steps
        uint32_t steps;
        uint32_t input;
        bool is_plain; // each step is
    };
    // Identifies nodes that may be in one node branch.  In the order of this key a set comes after
    // all sets that its nodes follow.
    struct SetKey {
        uint32_t level; // number of nodes before it that node branches accept with any mask
        bool has_any_mask;
        uint32_t input; // 0 if any input is accepted
        const mapi_function *function;

        auto operator<=>(const SetKey &) const = default;
    };
    struct Stage {
        std::vector<Step> steps; // those of Groups come behind others, those of Tails last
        size_t steady_steps = 0; // number of steps in no Branch
        size_t tail_steps = 0;   // number of steps in a Tail
        std::vector<GroupStep> groups;
        std::vector<Tail> tails;           // in the order of the flows
        std::vector<const Tail *> running; // those with packets in this batch
        std::vector<Feed> feeds;           // sorted by mask
        std::vector<uint32_t> fed;         // masks of feeds that are not zero
        std::vector<uint64_t> masks = {
            0}; // 0: the whole batch, i + 1: output of step i; then those of the burst's next batch
        std::vector<uint32_t> timed;   // steps to which the passing of time matters
        bool runs_every_batch = false; // this stage, or one after it, has such a node
    };
    // A node to which others refer: its values in the current batch.
    struct Referred {
        uint64_t before = 0;
        uint64_t mask = 0;
        uint64_t has_before = 0;
        std::array<uint64_t, MAPI_BATCH_MAX> values = {};
    };
    struct Reference {
        mapi_reference *view;
        const Chain *own;                 // one of chains_, or null
        std::weak_ptr<const Chain> other; // of another device, or not connected; once it is
                                          // destroyed the view stays unchanged
        size_t position;
        uint32_t referred;  // index into referred_; kNone: the node does not run in this plan
        const Node *node;   // of one of chains_; null: it does not run in this plan
        bool is_same_stage; // its mask refers to the same packets
    };

    void add_metered(Applied &applied);
    bool can_take_bursts() const;
    void choose_offloaded(const OffloadTarget &target, bool may_offload);
    void take_offloaded(const std::vector<uint32_t> &entries, uint16_t link_type);
    static const char *why_in_engine(const Step &step, const mapi_offload_step &described);
    void take_verdicts(Stage &stage, size_t place, Burst burst);
    void choose_prefiltered();
    bool choose_prefiltered_groups();
    static void run_prefilter(const mapi_prefilter *prefilter, const mapi_batch *batch,
                              mapi_prefiltered *result);
    bool has_chain(const Chain *chain) const;
    static void publish(const Step &step);
    void add(const Chain &chain, size_t functions);
    void add(const std::shared_ptr<Node> &node, const Chain &chain);
    void add_targets(Node &node, const Chain &own);
    bool is_ordered(const Stage &stage, const Step &step) const;
    void complete(Stage &stage);
    void use_groups(Stage &stage, const std::vector<std::shared_ptr<NodeGroup>> &groups);
    static std::vector<bool> find_plain(const Stage &stage);
    static std::map<SetKey, std::vector<uint32_t>> find_sets(const Stage &stage);
    static void arrange(Stage &stage, std::vector<uint32_t> roots);
    static void find_inputs(Stage &stage);
    static void find_tails(Stage &stage);
    void add_references(Node &node, uint32_t stage);
    uint32_t refer_to(const Node *node);
    void run(Stage &stage, const mapi_batch &batch);
    void run_steps(Stage &stage, Burst burst);
    uint64_t possible(const GroupStep &group, const mapi_batch &batch) const;
    void run_groups(Stage &stage, const mapi_batch &batch, uint64_t *masks);
    void run_group(Stage &stage, GroupStep &group, const mapi_batch &batch, uint64_t *masks);
    void run_with_inputs(Stage &stage, GroupStep &group, const mapi_batch &batch, uint64_t *masks,
                         uint64_t any);
    void run_branches(Stage &stage, GroupStep &group, const mapi_batch &batch, uint64_t *masks,
                      std::span<const mapi_group_passed> all_passed);
    void run_as_group(Stage &stage, GroupStep &group, const mapi_batch &batch, uint64_t *masks,
                      uint64_t any);
    void run_one_by_one(Stage &stage, GroupStep &group, const mapi_batch &batch, uint64_t *masks);
    void run_input(Stage &stage, GroupStep &group, const mapi_batch &batch, uint64_t *masks,
                   const GroupInput &input);
    void run_tails(Stage &stage, const mapi_batch &batch, uint64_t *masks);
    void run_tail(const Stage &stage, const Tail &tail, const mapi_batch &batch, uint64_t *masks,
                  uint64_t input);
    void run_branch(Stage &stage, Branch &branch, const mapi_batch &batch, uint64_t *masks,
                    uint64_t passed);
    uint64_t run_step(const Step &step, const mapi_batch &batch, uint64_t input);
    bool run_transformed(const Step &step);
    void tick(Stage &stage, uint64_t now_ns);
    void flush(Stage &stage);
    void update(const Reference &reference, bool is_same_batch) const;
    void look_at_awaited();
    static void fold(mapi_reference &view);

    template <class Key, class Value> using Map = std::pmr::unordered_map<Key, Value>;

    std::pmr::monotonic_buffer_resource
        memory_; // of the maps: a plan is built for each flow that connects, and freed as a whole
    const std::vector<std::shared_ptr<Chain>> chains_;
    std::vector<uint32_t> resets_;              // of each chain, that this plan begins with
    std::vector<std::shared_ptr<Node>> nodes_;  // sources before the nodes that use them
    std::vector<Stage> stages_;                 // the first one is the device's
    Map<const Node *, Place> places_{&memory_}; // of the packets that a node lets pass, or creates
    Map<const Node *, uint32_t> stage_of_{&memory_}; // the stage in which a node runs
    std::vector<std::unique_ptr<Referred>> referred_;
    Map<const Node *, uint32_t> referred_of_{&memory_}; // index into referred_
    std::vector<Reference> references_;
    Map<const Node *, std::pmr::vector<Applied *>> mirrors_{
        &memory_};                             // of a node's result, for clients in other processes
    std::unordered_set<const Node *> ordered_; // in tails
    std::unordered_set<const Node *> metered_;
    std::unordered_map<const Node *, Applied *> meter_ends_;
    Meter *meter_ = nullptr;
    // A step in no Branch with a result to publish, which can only have changed with packets for
    // it.
    struct Result {
        const Step *step;
        uint64_t seen = ~uint64_t(0); // when it was published
    };
    std::vector<Result> results_;
    std::vector<const Step *> ticked_results_; // those that time may change
    std::vector<Node *> copied_; // nodes whose results are copied for readers, when due
    std::vector<Branch *> ran_;  // Groups that have run since the last publish()
    std::vector<NodeGroup::Nodes> ungrouped_;
    std::vector<std::shared_ptr<NodeGroup>> groups_;
    std::vector<const Node *> prefiltered_;             // a prefilter has their results first,
    std::vector<const NodeGroup *> prefiltered_groups_; // then those of these
    mapi_prefilter prefilter_ = {};
    std::unique_ptr<OffloadProgram> offload_;
    std::vector<uint64_t> left_; // as masks of stage 0: what its driver has left to offloaded steps
    Map<const Node *, const char *> not_offloaded_{&memory_}; // why
    Watchers watchers_;                                       // distinct ones
    const uint64_t number_;                                   // unique in the process
    bool joined_ = false;
    bool takes_single_packets_ = false;
    bool has_tails_ = false;
    bool takes_bursts_ = false;
    Map<const std::atomic<uint64_t> *, std::pmr::vector<uint64_t *>> awaited_{
        &memory_}; // "has begun" word of a flow -> the copies that functions read
};
} // namespace mapi::engine
