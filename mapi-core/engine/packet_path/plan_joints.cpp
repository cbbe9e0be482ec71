// SPDX-License-Identifier: MIT
// Plan: which steps run as node groups.  The steps after them come last in the stage, Group by
// Group.
#include <algorithm>
#include <map>
#include <numeric>

#include "engine/packet_path/plan.hpp"

namespace mapi::engine
{
namespace
{
std::shared_ptr<Joint> find_joint(const std::vector<std::shared_ptr<Joint>> &joints, const Joint::Nodes &nodes)
{
    for (const auto &joint : joints) {
        if (std::any_of(nodes.begin(), nodes.end(), [&](const auto &node) { return joint->has(node.get()); }))
            return joint;
    }
    return nullptr;
}

bool is_just_of(const Joint &joint, const Joint::Nodes &nodes)
{
    return joint.nodes().size() == nodes.size() && std::all_of(nodes.begin(), nodes.end(), [&](const auto &node) { return joint.has(node.get()); });
}
} // namespace

// A step can be skipped for a batch only if no step after it must run without packets, or in a
// fixed order with other steps.
std::vector<bool> Plan::find_plain(const Stage &stage)
{
    std::vector<bool> is_plain(stage.steps.size(), true);
    for (size_t i = stage.steps.size(); i-- > 0;) {
        const Step &step = stage.steps[i];
        is_plain[i] = is_plain[i] && step.is_plain;
        if (!is_plain[i] && step.input > 0)
            is_plain[step.input - 1] = false;
    }
    return is_plain;
}

void Plan::use_joints(Stage &stage, const std::vector<std::shared_ptr<Joint>> &joints)
{
    std::vector<uint32_t> roots(stage.steps.size(), kNone); // for each step, the step of a node group that it follows
    for (const auto &[key, steps] : find_sets(stage)) {
        if (steps.size() < kFewestInJoint)
            continue;
        Joint::Nodes nodes;
        for (const uint32_t step : steps)
            nodes.push_back(stage.steps[step].node->shared_from_this());
        const std::shared_ptr<Joint> joint = find_joint(joints, nodes);
        if (!joint || !is_just_of(*joint, nodes))
            unjoined_.push_back(nodes);
        if (!joint)
            continue;
        joints_.push_back(joint);
        if (!joint->is_useful())
            continue;
        for (const uint32_t step : steps) {
            if (joint->has(stage.steps[step].node))
                roots[step] = step;
        }
        stage.joints.push_back({joint.get(), std::vector<Group>(joint->nodes().size())});
    }
    stage.steady_steps = stage.steps.size();
    if (stage.joints.empty())
        return;
    arrange(stage, std::move(roots));
    find_inputs(stage);
}

// Steps with the same function, and the same input unless any input is accepted.  No step follows
// another one of its set, and a node is in the same set in every plan.
std::map<Plan::SetKey, std::vector<uint32_t>> Plan::find_sets(const Stage &stage)
{
    std::map<SetKey, std::vector<uint32_t>> sets;
    const std::vector<bool> is_plain = find_plain(stage);
    std::vector<uint32_t> levels(stage.steps.size() + 1, 0); // by mask
    for (uint32_t i = 0; i < stage.steps.size(); ++i) {
        const Step &step = stage.steps[i];
        const uint32_t level = levels[step.input];
        const bool has_any_mask = step.node->joins_any_masks();
        levels[i + 1] = level + has_any_mask;
        if (is_plain[i] && step.node->is_pure() && step.node->function().joint_create)
            sets[{level, has_any_mask, has_any_mask ? 0 : step.input, &step.node->function()}].push_back(i);
    }
    return sets;
}

void Plan::arrange(Stage &stage, std::vector<uint32_t> roots)
{
    std::vector<uint32_t> order(stage.steps.size());
    std::iota(order.begin(), order.end(), 0);
    for (const uint32_t i : order) {
        if (roots[i] == kNone && stage.steps[i].input > 0)
            roots[i] = roots[stage.steps[i].input - 1];
    }
    // The first step of each Group is its root, which came before the steps that follow it.
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return roots[a] + 1 < roots[b] + 1; }); // kNone + 1 is 0
    std::vector<uint32_t> places(order.size());
    for (uint32_t place = 0; place < order.size(); ++place)
        places[order[place]] = place;
    std::vector<Step> steps;
    for (const uint32_t i : order) {
        steps.push_back(stage.steps[i]);
        if (steps.back().input > 0)
            steps.back().input = places[steps.back().input - 1] + 1;
    }
    stage.steps = std::move(steps);

    stage.steady_steps = 0;
    std::unordered_map<const Node *, Group> groups;
    for (uint32_t place = 0; place < order.size(); ++place) {
        const uint32_t root = roots[order[place]];
        if (root == kNone)
            ++stage.steady_steps;
        else if (root == order[place])
            groups[stage.steps[place].node] = {&stage.steps[place], 1, place + 1};
        else
            ++groups[stage.steps[places[root]].node].steps;
    }
    for (JointStep &joint : stage.joints) {
        for (size_t i = 0; i < joint.groups.size(); ++i) {
            if (const auto found = groups.find(joint.joint->nodes()[i].get()); found != groups.end())
                joint.groups[i] = found->second;
        }
    }
}

void Plan::find_inputs(Stage &stage)
{
    for (uint32_t number = 0; number < stage.joints.size(); ++number) {
        JointStep &joint = stage.joints[number];
        std::map<uint32_t, std::vector<uint32_t>> nodes; // by mask
        for (uint32_t i = 0; i < joint.groups.size(); ++i) {
            if (joint.groups[i].first)
                nodes[joint.groups[i].first->input].push_back(i);
        }
        for (const auto &[mask, places] : nodes) {
            if (mask <= stage.steady_steps)
                ++joint.steady_inputs;
            else
                stage.feeds.push_back({mask, number, uint32_t(joint.inputs.size())});
            joint.inputs.push_back({mask, uint32_t(joint.by_input.size()), uint32_t(places.size())});
            joint.by_input.insert(joint.by_input.end(), places.begin(), places.end());
        }
        joint.fed.reserve(joint.inputs.size());
    }
    const auto comes_before = [](const Feed &feed, uint32_t mask) { return feed.mask < mask; };
    std::sort(stage.feeds.begin(), stage.feeds.end(), [](const Feed &a, const Feed &b) { return a.mask < b.mask; });
    stage.fed.reserve(stage.feeds.size());
    for (JointStep &joint : stage.joints) {
        for (Group &group : joint.groups) {
            const auto first = std::lower_bound(stage.feeds.begin(), stage.feeds.end(), group.mask, comes_before);
            const auto last = std::lower_bound(first, stage.feeds.end(), group.mask + group.steps, comes_before);
            group.first_feed = uint32_t(first - stage.feeds.begin());
            group.feeds = uint32_t(last - first);
        }
    }
}
} // namespace mapi::engine
