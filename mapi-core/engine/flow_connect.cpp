// SPDX-License-Identifier: MIT
// Flow: connecting and closing, one or many.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <thread>

#include "engine/error.hpp"
#include "engine/flow.hpp"
#include "engine/packet_path/device.hpp"

namespace mapi::engine
{
namespace
{
constexpr auto kLookInterval = std::chrono::milliseconds(1);
} // namespace

// In the order of their addresses: two threads may be about to connect or close the same flows.
std::vector<std::unique_lock<std::mutex>> Flow::lock(std::vector<Flow *> flows)
{
    std::sort(flows.begin(), flows.end(), std::less<>());
    if (std::adjacent_find(flows.begin(), flows.end()) != flows.end())
        throw Error(MFUNCT_INVALID_ARGUMENT_1, "a flow is listed twice");
    std::vector<std::unique_lock<std::mutex>> locks;
    for (Flow *flow : flows)
        locks.emplace_back(flow->mutex_);
    return locks;
}

// Flows that begin with the same function that is shared by step use one node in each step.
void Flow::join_step(const Device::Chains &chains, uint64_t step)
{
    std::map<Node *, std::shared_ptr<Node>> replaced;
    for (const auto &chain : chains) {
        Applied *const first = chain->functions().empty() ? nullptr : chain->functions()[0].get();
        if (!first || first->is_removed || !first->node->traits().is_shared_by_step() ||
            first->node->join_step(step))
            continue;
        const Node &other = *first->node;
        std::shared_ptr<Node> &own = replaced[first->node.get()];
        if (!own)
            own = device_->make_node(other.function(), other.arguments().given(), other.client(),
                                     other.options());
        own->join_step(step);
        chain->replace_first(own);
    }
}

void Flow::connect(const std::vector<Flow *> &flows)
{
    static std::atomic<uint64_t> last_step = 0;
    const auto locks = lock(flows);
    Device::Chains chains;
    for (const Flow *flow : flows) {
        if (flow->device_ != flows.front()->device_)
            throw Error(MFUNCT_INVALID_ARGUMENT_1,
                        "the flows are on different devices (one step connects flows of one)");
        if (flow->chain_->is_closed_unconnected())
            throw Error(MAPI_INVALID_FLOW, "the flow is closed");
        if (flow->chain_->status() != FLOW_INIT)
            throw Error(MDLIB_FLOW_ALREADY_ACTIVE, "the flow is already connected");
        chains.push_back(flow->chain_);
    }
    if (chains.empty())
        return;
    flows.front()->join_step(chains, ++last_step);
    flows.front()->device_->connect(chains);
}

void Flow::close()
{
    close({shared_from_this()});
}

void Flow::close(const std::vector<std::shared_ptr<Flow>> &flows)
{
    disconnect(flows);
    // Writing a file may take long, so not under the flows' locks.
    for (const auto &flow : flows) {
        while (flow->has_ended() && !flow->settle())
            std::this_thread::sleep_for(kLookInterval);
    }
}

void Flow::disconnect(const std::vector<std::shared_ptr<Flow>> &flows)
{
    std::map<Device *, Device::Chains> chains;
    std::vector<Flow *> locked;
    for (const auto &flow : flows)
        locked.push_back(flow.get());
    const auto locks = lock(std::move(locked));
    for (const auto &flow : flows) {
        if (flow->chain_->status() == FLOW_ACTIVE || flow->chain_->status() == FLOW_FINISHED)
            chains[flow->device_.get()].push_back(flow->chain_);
        else
            flow->chain_->close(); // another thread may be about to connect it
    }
    for (const auto &[device, of_device] : chains)
        device->disconnect(of_device);
}
} // namespace mapi::engine
