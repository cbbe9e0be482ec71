// SPDX-License-Identifier: MIT
// Plan: the connected flows of a device, compiled -> the distinct functions in an order in which each finds its input ready.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <memory_resource>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include <mapi/driver.h>
#include <mapi/function.h>

#include "engine/packet_path/burst.hpp"
#include "engine/packet_path/joint.hpp"
#include "engine/packet_path/joint_pace.hpp"
#include "engine/packet_path/node.hpp"

namespace mapi::engine
{
class Chain;
struct Applied;

// A stage is what one stream of packets goes through: the device's, and that of each function which makes other packets of those it
// gets.  Never changed after it was made; connect and close make a new one.  Its masks are scratch memory of the device's thread.
class Plan
{
public:
    Plan(std::vector<std::shared_ptr<Chain>> chains, const std::vector<std::shared_ptr<Joint>> &joints);

    // Device's thread.  join() once, before the first run(): flows that are new note where the shared counters stand.
    void join(Meter *meter);
    // Whether a flow measures functions: join() is to be given a meter, or nullptr where there is none.
    bool wants_meter() const { return !metered_.empty(); }
    void run(Burst burst);
    // No packet came for a while.
    void tick(uint64_t now_ns);
    // The source has ended: what functions hold goes to those behind them.
    void flush();
    void publish();

    bool has_joined() const { return joined_; }
    const std::vector<std::shared_ptr<Chain>> &chains() const { return chains_; }
    // Distinct functions.
    size_t count_nodes() const { return nodes_.size(); }
    // The node that does what `wanted` would do with the mask of `source`, or null.
    std::shared_ptr<Node> find(const Node *source, const Node &wanted) const;
    // Nodes that could run jointly, one set for each joint to be made; none where the joints are of just these nodes.
    const std::vector<Joint::Nodes> &unjoined() const { return unjoined_; }
    // For a driver that runs functions on a thread of its own; null: there is nothing to run.  It lives as long as the plan.
    const mapi_prefilter *prefilter() const { return prefiltered_.empty() ? nullptr : &prefilter_; }
    // Those given that are of some of its nodes, one for each set.
    const std::vector<std::shared_ptr<Joint>> &joints() const { return joints_; }

private:
    static constexpr uint32_t kNone = ~0u;

    // Where a mask is.
    struct Place {
        uint32_t stage = 0;
        uint32_t mask = 0;
    };
    struct Step {
        Node *node;
        uint32_t input; // index into the stage's masks
        bool is_plain = true; // a mask comes in, a mask goes out; the rest is for the others
        uint32_t transformed = kNone; // the stage of the packets that the node makes
        uint32_t referred = kNone; // index into referred_; kNone: nobody refers to the node
        uint32_t first_reference = 0;
        uint32_t references = 0;
        uint32_t prefiltered = kNone; // index into prefiltered_
        bool has_result = false;
        bool is_metered = false;
        Applied *meter_end = nullptr; // null: the function ends no meter
        const std::pmr::vector<Applied *> *mirrors = nullptr; // null: none
    };
    // A node that a joint runs, and then all the steps behind it up to those of other joints: they are looked at only when it let
    // something pass.
    struct Group {
        const Step *first = nullptr; // null: its flow is gone
        uint32_t steps = 0;
        uint32_t mask = 0; // of the first one
        bool has_run = false; // since the last publish()
        uint32_t first_feed = 0; // of the stage's
        uint32_t feeds = 0;
    };
    // A mask of a step in a group that goes into a joint behind it.  It is zero but while the batch runs in which the group did.
    struct Feed {
        uint32_t mask;
        uint32_t joint; // index into the stage's
        uint32_t input; // index into the joint's
    };
    // One mask that comes into a joint, and for how many of its nodes.
    struct JointInput {
        uint32_t mask;
        uint32_t first_node; // in by_input
        uint32_t nodes;
    };
    struct JointStep {
        Joint *joint; // one of joints_
        std::vector<Group> groups; // one for each of the joint's nodes
        std::vector<JointInput> inputs = {}; // those that are masks of no group come first
        uint32_t steady_inputs = 0;
        std::vector<uint32_t> by_input = {}; // places of the joint's nodes
        std::vector<uint32_t> fed = {}; // inputs from groups, with packets of this batch
        JointPace pace = {};
    };
    // Which nodes may be in one joint.  In the order of this key a set comes behind all whose nodes its own are behind.
    struct SetKey {
        uint32_t level; // how many nodes that joints may take with any mask a node is behind
        bool has_any_mask;
        uint32_t input; // 0 where it may be any
        const mapi_function *function;

        auto operator<=>(const SetKey &) const = default;
    };
    struct Stage {
        std::vector<Step> steps; // those of groups are behind the others
        size_t steady_steps = 0; // which are in no group
        std::vector<JointStep> joints;
        std::vector<Feed> feeds; // by their masks
        std::vector<uint32_t> fed; // masks of feeds that are not zero
        std::vector<uint64_t> masks = {0}; // 0: the whole batch, i + 1: what step i let pass; then those of the burst's next batch
        bool runs_every_batch = false; // this one, or one behind it, has a node that does
    };
    // A node to which others refer: what they need of the batch that is run.
    struct Referred {
        uint64_t before = 0;
        uint64_t mask = 0;
        uint64_t has_before = 0;
        std::array<uint64_t, MAPI_BATCH_MAX> values = {};
    };
    struct Reference {
        mapi_reference *view;
        const Chain *own;               // one of chains_, or null
        std::weak_ptr<const Chain> other; // of another device, or not connected; when it is gone the view stays as it is
        size_t position;
        uint32_t referred; // index into referred_; kNone: the node does not run in this plan
        const Node *node;  // of one of chains_; null: it does not run in this plan
        bool is_same_stage; // its mask is of the same packets
    };

    void add_metered(Applied &applied);
    bool can_take_bursts() const;
    void choose_prefiltered();
    static void run_prefilter(const mapi_prefilter *prefilter, const mapi_batch *batch, mapi_prefiltered *result);
    bool has_chain(const Chain *chain) const;
    static void publish(const Step &step);
    void add(const Chain &chain, size_t functions);
    void add(const std::shared_ptr<Node> &node, const Chain &chain);
    void add_targets(Node &node, const Chain &own);
    void complete(Stage &stage);
    void use_joints(Stage &stage, const std::vector<std::shared_ptr<Joint>> &joints);
    static std::vector<bool> find_plain(const Stage &stage);
    static std::map<SetKey, std::vector<uint32_t>> find_sets(const Stage &stage);
    static void arrange(Stage &stage, std::vector<uint32_t> roots);
    static void find_inputs(Stage &stage);
    void add_references(Node &node, uint32_t stage);
    uint32_t refer_to(const Node *node);
    void run(Stage &stage, const mapi_batch &batch);
    void run_steps(Stage &stage, Burst burst);
    void run_joints(Stage &stage, const mapi_batch &batch, uint64_t *masks);
    void run_joint(Stage &stage, JointStep &joint, const mapi_batch &batch, uint64_t *masks);
    void run_jointly(Stage &stage, JointStep &joint, const mapi_batch &batch, uint64_t *masks, uint64_t any);
    void run_one_by_one(Stage &stage, JointStep &joint, const mapi_batch &batch, uint64_t *masks);
    void run_input(Stage &stage, JointStep &joint, const mapi_batch &batch, uint64_t *masks, const JointInput &input);
    void run_group(Stage &stage, Group &group, const mapi_batch &batch, uint64_t *masks, uint64_t passed);
    uint64_t run_step(const Step &step, const mapi_batch &batch, uint64_t input);
    bool run_transformed(const Step &step);
    void tick(Stage &stage, uint64_t now_ns);
    void flush(Stage &stage);
    void update(const Reference &reference, bool is_same_batch) const;
    void look_at_awaited();
    static void fold(mapi_reference &view);

    template <class Key, class Value> using Map = std::pmr::unordered_map<Key, Value>;

    std::pmr::monotonic_buffer_resource memory_; // of the maps: a plan is made for each flow that connects, and freed as a whole
    const std::vector<std::shared_ptr<Chain>> chains_;
    std::vector<std::shared_ptr<Node>> nodes_; // sources before those that use them
    std::vector<Stage> stages_; // the first one is the device's
    Map<const Node *, Place> places_{&memory_}; // of the packets that a node lets pass, or makes
    Map<const Node *, uint32_t> stage_of_{&memory_}; // in which a node runs
    std::vector<std::unique_ptr<Referred>> referred_;
    Map<const Node *, uint32_t> referred_of_{&memory_}; // index into referred_
    std::vector<Reference> references_;
    Map<const Node *, std::pmr::vector<Applied *>> mirrors_{&memory_}; // of a node's result, for clients in other processes
    std::unordered_set<const Node *> metered_;
    std::unordered_map<const Node *, Applied *> meter_ends_;
    Meter *meter_ = nullptr;
    std::vector<const Step *> results_; // steps in no group with something to publish
    std::vector<Node *> copied_; // nodes whose results are copied for readers, when there is the time
    std::vector<Group *> ran_; // groups that have run since the last publish()
    std::vector<Joint::Nodes> unjoined_;
    std::vector<std::shared_ptr<Joint>> joints_;
    std::vector<const Node *> prefiltered_;
    mapi_prefilter prefilter_ = {};
    const uint64_t number_; // of all plans of the process
    bool joined_ = false;
    bool takes_single_packets_ = false;
    bool takes_bursts_ = false;
    Map<const std::atomic<uint64_t> *, std::pmr::vector<uint64_t *>> awaited_{&memory_}; // by what tells that a flow has begun: where functions read it
};
} // namespace mapi::engine
