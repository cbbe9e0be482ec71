// SPDX-License-Identifier: MIT
// Flow table: flow descriptor -> flow, lock-free.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "client/backend.hpp"
#include "client/grace_period.hpp"

namespace mapi::client
{
class FlowTable
{
public:
    static constexpr int kFlowsMax = 32768;

    // Runs `use(flow)` while the flow cannot go away; use() must not block.  Throws Error if there
    // is no such flow.
    template <class Use> auto with(int fd, Use use)
    {
        Slot &slot = slot_of(fd);
        const ReadSection section; // ends before remove() closes the flow
        Flow *flow = slot.flow.load(std::memory_order_acquire);
        if (!flow)
            throw_no_flow(fd);
        return use(*flow);
    }

    // Returns take(shortcut, the thread's clock) if the function has a shortcut; null: use with()
    // or hold().  Calls nothing else.
    template <class Take>
    auto try_shortcut(int fd, int fid, Take take)
        -> decltype(take(std::declval<const Shortcut &>(), std::declval<const ReaderClock &>()))
    {
        ReaderThread *const reader = own_reader;
        const unsigned place = unsigned(fd) - 1;
        if (!reader || place >= unsigned(kFlowsMax)) [[unlikely]]
            return nullptr;
        const uint32_t before = enter_section(*reader);
        const Flow *const flow = slots_[place].flow.load(std::memory_order_acquire);
        const auto taken =
            flow && flow->has_shortcut(fid) ? take(flow->shortcut(fid), reader->clock) : nullptr;
        leave_section(*reader, before);
        return taken;
    }

    // For calls that block: the flow lives until the caller releases it, even if it is closed
    // meanwhile.
    std::shared_ptr<Flow> hold(int fd)
    {
        return with(fd, [](Flow &flow) { return flow.shared_from_this(); });
    }

    // At least one.  Throws Error, also if one of them is connected.
    std::vector<std::shared_ptr<Flow>> hold_unconnected(const int *fds, int count);

    // Creates a flow that knows its descriptor: make(fd) returns it, or throws.
    template <class Make> int add(Make make)
    {
        const int fd = reserve();
        try {
            fill(fd, make(fd));
        } catch (...) {
            free(fd);
            throw;
        }
        return fd;
    }
    // Runs close(flows) once no thread is inside with() any more.  The numbers are not reused
    // before that is done.  At least one.  Throws Error, before anything is removed, if there is no
    // such flow or one is listed twice.
    template <class Close> void remove(const int *fds, int count, Close close)
    {
        const std::vector<std::shared_ptr<Flow>> flows = take(fds, count);
        const Freed freed{*this, {fds, fds + count}};
        close(flows);
    }
    // Calls use(flow) for each flow, inside a ReadSection or while no other thread runs.
    template <class Use> void for_each(Use use)
    {
        for (Slot &slot : slots_) {
            if (Flow *const flow = slot.flow.load(std::memory_order_acquire))
                use(*flow);
        }
    }
    // Replaces `old` by another flow; throws Error if `old` is no longer there.
    void replace(int fd, const std::shared_ptr<Flow> &old, std::shared_ptr<Flow> flow);
    // Whether a flow has ever been requested.
    bool is_used() const { return last_ != 0; }
    // The smallest descriptor in use that is greater than fd; 0: none.
    int next(int fd);

private:
    struct Slot {
        std::atomic<Flow *> flow = nullptr;
        std::shared_ptr<Flow> owner; // protected by mutex_
        bool is_taken = false;       // likewise; also set while a flow is created or closed
    };

    struct Freed {
        FlowTable &table;
        std::vector<int> fds;
        ~Freed()
        {
            for (const int fd : fds)
                table.free(fd);
        }
    };

    [[noreturn]] void throw_no_flow(int fd) const;
    int reserve();
    std::vector<std::shared_ptr<Flow>> take(const int *fds, int count);
    void fill(int fd, std::shared_ptr<Flow> flow);
    void free(int fd);
    Slot &slot_of(int fd)
    {
        if (fd < 1 || fd > kFlowsMax)
            throw_no_flow(fd);
        return slots_[size_t(fd) - 1];
    }

    std::array<Slot, kFlowsMax> slots_;
    std::mutex mutex_; // for add and remove
    std::atomic<int> last_ =
        0; // numbers are used in turn, so that a stale one does not soon name another flow
};
} // namespace mapi::client
