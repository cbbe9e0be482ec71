// SPDX-License-Identifier: MIT
// Plan: which steps run as node branches.  The steps after them come last in the stage, Branch by
// Branch.
#include <algorithm>
#include <map>
#include <numeric>

#include "engine/packet_path/plan.hpp"

namespace mapi::engine
{
namespace
{
std::shared_ptr<NodeGroup> find_group(const std::vector<std::shared_ptr<NodeGroup>> &groups,
                                      const NodeGroup::Nodes &nodes)
{
    for (const auto &group : groups) {
        if (std::any_of(nodes.begin(), nodes.end(),
                        [&](const auto &node) { return group->has(node.get()); }))
            return group;
    }
    return nullptr;
}

bool is_just_of(const NodeGroup &group, const NodeGroup::Nodes &nodes)
{
    return group.nodes().size() == nodes.size() &&
           std::all_of(nodes.begin(), nodes.end(),
                       [&](const auto &node) { return group.has(node.get()); });
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

void Plan::use_groups(Stage &stage, const std::vector<std::shared_ptr<NodeGroup>> &groups)
{
    std::vector<uint32_t> roots(stage.steps.size(),
                                kNone); // for each step, the step of a node branch that it follows
    for (const auto &[key, steps] : find_sets(stage)) {
        if (steps.size() < fewest_in_group(*key.function))
            continue;
        NodeGroup::Nodes nodes;
        for (const uint32_t step : steps)
            nodes.push_back(stage.steps[step].node->shared_from_this());
        const std::shared_ptr<NodeGroup> group = find_group(groups, nodes);
        if (!group || !is_just_of(*group, nodes))
            ungrouped_.push_back(nodes);
        if (!group)
            continue;
        groups_.push_back(group);
        if (!group->is_useful())
            continue;
        for (const uint32_t step : steps) {
            if (group->has(stage.steps[step].node))
                roots[step] = step;
        }
        stage.groups.push_back({group.get(), std::vector<Branch>(group->nodes().size())});
    }
    stage.steady_steps = stage.steps.size();
    const bool has_tail = std::any_of(stage.steps.begin(), stage.steps.end(),
                                      [](const Step &step) { return step.is_ordered; });
    if (stage.groups.empty() && !has_tail)
        return;
    arrange(stage, std::move(roots));
    find_tails(stage);
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
        const bool has_any_mask = step.node->traits().joins_any_masks();
        levels[i + 1] = level + has_any_mask;
        if (is_plain[i] && step.offloaded == kNone && !step.is_ordered &&
            step.node->traits().can_be_grouped())
            sets[{level, has_any_mask, has_any_mask ? 0 : step.input, &step.node->function()}]
                .push_back(i);
    }
    return sets;
}

void Plan::arrange(Stage &stage, std::vector<uint32_t> roots)
{
    std::vector<uint32_t> order(stage.steps.size());
    std::iota(order.begin(), order.end(), 0);
    std::vector<uint32_t> tails(order.size(), 0); // for each step, the number of its tail, from 1
    for (const uint32_t i : order) {
        const uint32_t input = stage.steps[i].input;
        if (roots[i] == kNone && input > 0)
            roots[i] = roots[input - 1];
        if (!stage.steps[i].is_ordered)
            continue;
        tails[i] = input > 0 && tails[input - 1] > 0 ? tails[input - 1] : i + 1;
        roots[i] = kInTail;
    }
    // The first step of each Branch or Tail is its root, which came before the steps that follow
    // it.
    std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
        return std::pair(tails[a], roots[a] + 1) < std::pair(tails[b], roots[b] + 1);
    }); // kNone + 1 is 0
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

    stage.steady_steps = stage.tail_steps = 0;
    std::unordered_map<const Node *, Branch> branches;
    for (uint32_t place = 0; place < order.size(); ++place) {
        const uint32_t root = roots[order[place]];
        if (root == kNone)
            ++stage.steady_steps;
        else if (root == kInTail)
            ++stage.tail_steps;
        else if (root == order[place])
            branches[stage.steps[place].node] = {&stage.steps[place], 1, place + 1};
        else
            ++branches[stage.steps[places[root]].node].steps;
    }
    for (GroupStep &group : stage.groups) {
        for (size_t i = 0; i < group.branches.size(); ++i) {
            if (const auto found = branches.find(group.group->nodes()[i].get());
                found != branches.end())
                group.branches[i] = found->second;
        }
    }
}

void Plan::find_tails(Stage &stage)
{
    for (size_t i = stage.steps.size() - stage.tail_steps; i < stage.steps.size(); ++i) {
        const Step &step = stage.steps[i];
        const bool begins = step.input == 0 || !stage.steps[step.input - 1].is_ordered;
        if (begins)
            stage.tails.push_back({uint32_t(i), 0, step.input, true});
        ++stage.tails.back().steps;
        stage.tails.back().is_plain &= step.is_plain;
    }
    stage.running.reserve(stage.tails.size());
}

void Plan::find_inputs(Stage &stage)
{
    for (uint32_t number = 0; number < stage.groups.size(); ++number) {
        GroupStep &group = stage.groups[number];
        std::map<uint32_t, std::vector<uint32_t>> nodes; // by mask
        for (uint32_t i = 0; i < group.branches.size(); ++i) {
            if (group.branches[i].first)
                nodes[group.branches[i].first->input].push_back(i);
        }
        for (const auto &[mask, places] : nodes) {
            if (mask <= stage.steady_steps)
                ++group.steady_inputs;
            else
                stage.feeds.push_back({mask, number, uint32_t(group.inputs.size())});
            group.inputs.push_back(
                {mask, uint32_t(group.by_input.size()), uint32_t(places.size())});
            group.by_input.insert(group.by_input.end(), places.begin(), places.end());
        }
        group.fed.reserve(group.inputs.size());
        group.active.reserve(group.inputs.size());
    }
    for (const Tail &tail : stage.tails) {
        if (tail.input > stage.steady_steps)
            stage.feeds.push_back({tail.input, kNone, 0});
    }
    const auto comes_before = [](const Feed &feed, uint32_t mask) { return feed.mask < mask; };
    std::sort(stage.feeds.begin(), stage.feeds.end(),
              [](const Feed &a, const Feed &b) { return a.mask < b.mask; });
    stage.fed.reserve(stage.feeds.size());
    for (GroupStep &group : stage.groups) {
        for (Branch &branch : group.branches) {
            const auto first =
                std::lower_bound(stage.feeds.begin(), stage.feeds.end(), branch.mask, comes_before);
            const auto last = std::lower_bound(first, stage.feeds.end(), branch.mask + branch.steps,
                                               comes_before);
            branch.first_feed = uint32_t(first - stage.feeds.begin());
            branch.feeds = uint32_t(last - first);
        }
    }
}
} // namespace mapi::engine
