// SPDX-License-Identifier: MIT
// Device: its node groups.  They are rebuilt after flows were added or closed, which may take long
// (a tenth of a second for a thousand strings): before the first packet in the device's thread,
// later in a thread of its own.  Until a group is ready, new flows' functions run one by one.
#include <algorithm>
#include <chrono>

#include "engine/packet_path/device.hpp"

namespace mapi::engine
{
namespace
{
using Clock = std::chrono::steady_clock;

// Flows that connect in quick succession share one rebuild, and rebuilding uses at most a fifth of
// a processor.
constexpr Clock::duration kShortestPause = std::chrono::milliseconds(20);
constexpr int kPauseOfWork = 4;
} // namespace

void Device::make_groups_while_running()
{
    std::unique_lock lock(mutex_);
    Clock::duration work = {};
    while (true) {
        plan_changed_.wait(lock, [this] {
            return stop_ || (state_ == State::kRunning && !current_->ungrouped().empty());
        });
        plan_changed_.wait_for(lock, std::max(kShortestPause, kPauseOfWork * work),
                               [this] { return stop_.load(); });
        if (stop_)
            return;
        std::vector<NodeGroup::Nodes> sets = current_->ungrouped();
        lock.unlock();
        const auto begin = Clock::now();
        std::vector<std::shared_ptr<NodeGroup>> groups = make_groups(sets);
        work = Clock::now() - begin;
        lock.lock();
        use_groups(std::move(groups));
        lock.unlock();
        sets.clear(); // may destroy a node, so not under the lock
        free_retired();
        lock.lock();
    }
}

std::vector<std::shared_ptr<NodeGroup>>
Device::make_groups(const std::vector<NodeGroup::Nodes> &sets)
{
    std::vector<std::shared_ptr<NodeGroup>> groups;
    try {
        for (const NodeGroup::Nodes &nodes : sets)
            groups.push_back(std::make_shared<NodeGroup>(nodes));
    } catch (const std::exception
                 &) { // out of memory: the other nodes run one by one until the next attempt
    }
    return groups;
}

// The plan takes the first group that fits, so new groups come before those that they replace,
// which it then drops.
void Device::use_groups(std::vector<std::shared_ptr<NodeGroup>> groups)
{
    if (groups.empty())
        return;
    groups.insert(groups.end(), current_->groups().begin(), current_->groups().end());
    install(current_->chains(), groups);
}
} // namespace mapi::engine
