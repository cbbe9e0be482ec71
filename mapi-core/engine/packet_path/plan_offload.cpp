// SPDX-License-Identifier: MIT
// Plan: the functions that the driver runs, and why it does not run the others.
#include <algorithm>

#include "engine/packet_path/plan.hpp"

namespace mapi::engine
{
namespace
{
constexpr const char *kAllWatched = "a function of a flow gets all packets of the device";
constexpr uint32_t kNotOffloaded = MAPI_OFFLOAD_ALL - 1;

// At most so many bytes of each packet.
uint32_t bytes_read(const mapi_offload_step &step, bool is_described)
{
    if (is_described && (step.kind == MAPI_OFFLOAD_COUNT || step.kind == MAPI_OFFLOAD_SAMPLE ||
                         step.kind == MAPI_OFFLOAD_LAST))
        return 1;
    return !is_described && step.bytes_read > 0 ? step.bytes_read : MAPI_OFFLOAD_WHOLE;
}
} // namespace

const char *Plan::why_in_engine(const Step &step, const mapi_offload_step &described)
{
    if (step.node->is_in_engine())
        return "an option of its flow (MAPI_IN_ENGINE)";
    if (described.reason)
        return described.reason;
    if (step.node->stays_in_engine())
        return "it has begun to count there";
    return step.is_plain ? "it only runs there"
                         : "it is measured, or its result is used by another function";
}

// The longest head of each flow that the driver can run.  Of the packets that the first function
// after it needs, the functions after that one need no more.
void Plan::choose_offloaded(const OffloadTarget &target, bool may_offload)
{
    offload_ = std::make_unique<OffloadProgram>(target);
    std::vector<Step> &steps = stages_[0].steps;
    std::vector<uint32_t> entries = {MAPI_OFFLOAD_ALL}; // by mask
    std::vector<uint32_t> heads = {MAPI_OFFLOAD_ALL};   // by mask: the last entry before it
    for (const Step &step : steps) {
        const uint32_t source = entries[step.input];
        mapi_offload_step described = {};
        const bool is_described = step.node->describe(target.link_type, described);
        if (may_offload && source != kNotOffloaded && is_described && step.is_plain &&
            !step.node->is_in_engine() && !step.node->stays_in_engine()) {
            entries.push_back(offload_->add(*step.node, source, described));
            heads.push_back(entries.back());
            continue;
        }
        not_offloaded_[step.node] = !may_offload              ? kAllWatched
                                    : source == kNotOffloaded ? kFollowsEngine
                                                              : why_in_engine(step, described);
        entries.push_back(kNotOffloaded);
        heads.push_back(heads[step.input]);
        offload_->want_packets(heads.back(), bytes_read(described, is_described));
    }
    offload_->prepare();
    take_offloaded(entries, target.link_type);
}

// What the driver takes.  A sample that has begun in the engine continues there: no driver could
// know where it is when a new program begins.
void Plan::take_offloaded(const std::vector<uint32_t> &entries, uint16_t link_type)
{
    std::vector<Step> &steps = stages_[0].steps;
    for (size_t i = 0; i < steps.size(); ++i) {
        const uint32_t entry = entries[i + 1];
        if (entry != kNotOffloaded && offload_->is_taken(entry)) {
            steps[i].offloaded = entry;
            continue;
        }
        if (entry != kNotOffloaded)
            not_offloaded_[steps[i].node] = offload_->reason(entry);
        mapi_offload_step step = {};
        if (steps[i].node->describe(link_type, step) && step.kind == MAPI_OFFLOAD_SAMPLE &&
            step.period > 0)
            steps[i].node->stay_in_engine();
    }
}

std::string Plan::place_of(const Node &node) const
{
    const auto place = places_.find(&node);
    if (place == places_.end())
        return {};
    if (!offload_)
        return "engine";
    if (const auto reason = not_offloaded_.find(&node); reason != not_offloaded_.end())
        return std::string("engine: ") + reason->second;
    return stage_of_.at(&node) == 0 ? offload_->place() : std::string("engine: ") + kFollowsEngine;
}
} // namespace mapi::engine
