// SPDX-License-Identifier: MIT
// Flow table: flow descriptor -> flow.
#include "client/flow_table.hpp"

#include <set>

#include "engine/error.hpp"

namespace mapi::client
{
void FlowTable::throw_no_flow(int fd) const
{
    throw Error(is_used() ? MAPI_INVALID_FLOW : MAPI_INIT_ERROR,
                "there is no flow " + std::to_string(fd));
}

namespace
{
void need_some(int count)
{
    if (count < 1)
        throw Error(MFUNCT_INVALID_ARGUMENT_2, "the number of flows is less than 1");
}
} // namespace

std::vector<std::shared_ptr<Flow>> FlowTable::hold_unconnected(const int *fds, int count)
{
    need_some(count);
    std::vector<std::shared_ptr<Flow>> flows;
    for (const int *fd = fds; fd != fds + count; ++fd) {
        flows.push_back(hold(*fd));
        if (flows.back()->is_connected())
            throw Error(MDLIB_FLOW_ALREADY_ACTIVE,
                        "flow " + std::to_string(*fd) + " is already connected");
    }
    return flows;
}

int FlowTable::reserve()
{
    const std::lock_guard lock(mutex_);
    for (int tried = 0; tried < kFlowsMax; ++tried) {
        last_ = last_ % kFlowsMax + 1;
        Slot &slot = slot_of(last_);
        if (slot.is_taken)
            continue;
        slot.is_taken = true;
        return last_;
    }
    throw Error(MAPI_LIMIT_REACHED, "all " + std::to_string(kFlowsMax) +
                                        " flow descriptors are in use (close some flows)");
}

void FlowTable::fill(int fd, std::shared_ptr<Flow> flow)
{
    Slot &slot = slot_of(fd);
    const std::lock_guard lock(mutex_);
    slot.owner = std::move(flow);
    slot.flow = slot.owner.get();
}

void FlowTable::free(int fd)
{
    const std::lock_guard lock(mutex_);
    slots_[size_t(fd) - 1].is_taken = false; // reserve() returned fd
}

std::vector<std::shared_ptr<Flow>> FlowTable::take(const int *fds, int count)
{
    need_some(count);
    std::vector<std::shared_ptr<Flow>> flows;
    {
        const std::lock_guard lock(mutex_);
        const std::set<int> different(fds, fds + count);
        for (const int fd : different) {
            if (!slot_of(fd).owner)
                throw_no_flow(fd);
        }
        if (different.size() != size_t(count))
            throw Error(MFUNCT_INVALID_ARGUMENT_1, "a flow is listed twice");
        flows.reserve(size_t(count));
        for (const int *fd = fds; fd != fds + count; ++fd) {
            Slot &slot = slot_of(*fd);
            slot.flow = nullptr;
            flows.push_back(std::move(slot.owner));
        }
    }
    wait_for_readers();
    return flows;
}

void FlowTable::replace(int fd, const std::shared_ptr<Flow> &old, std::shared_ptr<Flow> flow)
{
    Slot &slot = slot_of(fd);
    {
        const std::lock_guard lock(mutex_);
        if (slot.owner != old)
            throw_no_flow(fd);
        slot.flow = flow.get();
        slot.owner = std::move(flow);
    }
    wait_for_readers(); // threads that may still use `old`
}

int FlowTable::next(int fd)
{
    const std::lock_guard lock(mutex_);
    for (int candidate = fd < 0 ? 1 : fd + 1; candidate <= kFlowsMax; ++candidate) {
        if (slots_[size_t(candidate) - 1].owner)
            return candidate;
    }
    return 0;
}
} // namespace mapi::client
