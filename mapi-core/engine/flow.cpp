// SPDX-License-Identifier: MIT
// Flow: one client's stream of packets.
#include "engine/flow.hpp"

#include <cstdio>

#include "engine/device.hpp"
#include "engine/error.hpp"
#include "engine/wall_clock.hpp"

namespace mapi::engine
{
namespace
{
constexpr int kTransformsMax = 16; // each stands on the packet thread's stack while what follows it runs
} // namespace

Flow::Flow(std::shared_ptr<Device> device)
    : device_(std::move(device)), chain_(std::make_shared<Chain>())
{
}

int Flow::apply(const mapi_function &function, Arguments arguments)
{
    const std::lock_guard lock(mutex_);
    if (chain_->status() != FLOW_INIT)
        throw Error(MFUNCT_COULD_NOT_APPLY_FUNCT,
                    std::string(function.name) + ": the flow is connected; functions are applied before mapi_connect()");
    for (const Argument &argument : arguments) {
        if (argument.kind != 'S')
            continue;
        // A whole result is read where it lies, by the thread that writes it.
        for (const Target &target : argument.targets) {
            if (target.device != device_.get())
                throw Error(MFUNCT_COULD_NOT_APPLY_FUNCT, std::string(function.name) + ": one of \"" + argument.text + "\" is of another device");
        }
    }
    if ((function.flags & MAPI_FUNCTION_TRANSFORMS) && chain_->count_transforms() == kTransformsMax)
        throw Error(MFUNCT_COULD_NOT_APPLY_FUNCT, std::string(function.name) + ": the flow has " + std::to_string(kTransformsMax) +
                                                      " functions that change packets already");
    chain_->append(device_->make_node(function, std::move(arguments)));
    return int(chain_->functions().size());
}

Target Flow::target(int fid, bool is_whole)
{
    const std::lock_guard lock(mutex_);
    const auto &functions = chain_->functions();
    if (fid < 1 || size_t(fid) > functions.size())
        throw Error(MAPI_INVALID_FID_FUNCID, "has no function " + std::to_string(fid));
    const Node &node = *functions[size_t(fid) - 1]->node;
    if (!node.has_published_result() && !(is_whole && node.is_in_place()))
        throw Error(MAPI_INVALID_FID_FUNCID, std::string("has function ") + node.function().name + ", which has no single result");
    return {chain_, size_t(fid) - 1, node.result_bytes(), node.is_additive(), node.is_in_place(), device_.get()};
}

void Flow::connect()
{
    const std::lock_guard lock(mutex_);
    if (chain_->status() != FLOW_INIT)
        throw Error(MAPI_FLOW_ALREADY_ACTIVE, "the flow is connected already");
    device_->connect(chain_);
}

void Flow::close()
{
    const std::lock_guard lock(mutex_);
    if (chain_->status() == FLOW_ACTIVE || chain_->status() == FLOW_FINISHED)
        device_->disconnect(chain_);
}

Applied &Flow::connected_function(int fid)
{
    if (chain_->status() == FLOW_INIT)
        throw Error(MAPI_FLOW_NOT_CONNECTED, "the flow is not connected");
    const auto &functions = chain_->functions();
    if (fid < 1 || size_t(fid) > functions.size())
        throw Error(MAPI_INVALID_FID_FUNCID, "the flow has no function " + std::to_string(fid));
    return *functions[size_t(fid) - 1];
}

mapi_results_t *Flow::read_results(int fid)
{
    Applied &applied = connected_function(fid);
    const Node &node = *applied.node;
    if (!node.has_result())
        throw Error(MAPI_INVALID_FID_FUNCID, std::string(node.function().name) + " has no result");
    if (node.function().next_result)
        return nullptr;
    // Relaxed stores: two threads that read the same function get whole words, if not both their own.
    if (applied.result.size() == 1) [[likely]] {
        uint64_t value = 0;
        // A shared result may be of packets before this flow.
        if (!node.is_shareable() || (chain_->has_joined() && (!node.is_pure() || node.seen() != applied.base_seen)))
            value = node.published().first_word() - applied.base_result;
        applied.result[0].store(value, std::memory_order_relaxed);
    } else {
        std::vector<uint64_t> copy(applied.result.size());
        node.published().read(copy.data());
        for (size_t i = 0; i < copy.size(); ++i)
            applied.result[i].store(copy[i], std::memory_order_relaxed);
    }
    std::atomic_ref(applied.results.ts).store(now_us(), std::memory_order_relaxed);
    return &applied.results;
}

mapi_results_t *Flow::next_results(int fid)
{
    Applied &applied = connected_function(fid);
    const std::lock_guard lock(applied.reader);
    if (!applied.node->function().next_result)
        throw Error(MAPI_INVALID_FID_FUNCID, std::string(applied.node->function().name) + " has no results one after another");
    std::vector<uint64_t> copy(applied.result.size());
    if (!applied.node->next_result(copy.data()))
        throw Error(MAPI_NO_MORE_RESULTS, std::string(applied.node->function().name) + " has no more results");
    for (size_t i = 0; i < copy.size(); ++i)
        applied.result[i].store(copy[i], std::memory_order_relaxed);
    std::atomic_ref(applied.results.ts).store(now_us(), std::memory_order_relaxed);
    return &applied.results;
}

const mapipkt *Flow::next_packet(int fid)
{
    Applied &applied = connected_function(fid);
    const mapi_function &function = applied.node->function();
    if (!function.next_packet)
        throw Error(MAPI_INVALID_FID_FUNCID, std::string(function.name) + " keeps no packets; TO_BUFFER does");
    const std::lock_guard lock(applied.reader);
    return applied.node->next_packet();
}

bool Flow::wait_for_end(int timeout_ms)
{
    if (chain_->status() == FLOW_INIT)
        throw Error(MAPI_FLOW_NOT_CONNECTED, "the flow is not connected");
    return device_->wait_while_active(*chain_, timeout_ms);
}

void Flow::describe(mapi_flow_info_t *info)
{
    const std::lock_guard lock(mutex_);
    info->devid = device_->id();
    snprintf(info->device, sizeof(info->device), "%s", device_->settings().name.c_str());
    info->num_functions = int(chain_->functions().size());
    info->start_us = chain_->start_us();
    info->end_us = chain_->end_us();
    chain_->settle();
    info->status = chain_->status();
}

void Flow::describe(int fid, mapi_function_info_t *info)
{
    const std::lock_guard lock(mutex_);
    const auto &functions = chain_->functions();
    if (fid < 1 || size_t(fid) > functions.size())
        throw Error(MAPI_INVALID_FID_FUNCID, "the flow has no function " + std::to_string(fid));
    const Applied &applied = *functions[size_t(fid) - 1];
    const Node &node = *applied.node;
    const bool joined = chain_->has_joined();
    const mapi_function_drops drops = node.drops();
    info->fid = fid;
    snprintf(info->name, sizeof(info->name), "%s", node.function().name);
    info->pkts = joined ? node.seen() - applied.base_seen : 0;
    info->passed_pkts = joined ? node.passed() - applied.base_passed : 0;
    info->dropped = drops.buffer_full + drops.link_type + drops.not_written;
    info->time_jumps = drops.time_jumps;
    info->result_size = int(node.result_bytes());
    info->shared_with = device_->count_other_users(node, *chain_);
}
} // namespace mapi::engine
