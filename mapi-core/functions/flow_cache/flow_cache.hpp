// SPDX-License-Identifier: MIT
// Flow cache: packets -> flows, each of which ends once: by time, for lack of room, or at the end
// of the packets.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <type_traits>

#include "functions/flow_cache/flow_hash.hpp"
#include "functions/flow_cache/flow_packet.hpp"

namespace mapi::functions
{
// Numbers of IPFIX's flowEndReason (RFC 5102 5.11.3).
enum class FlowEnd : uint8_t {
    kIdle = 1,
    kActive = 2, // the flow continues as a new one
    kForced = 4, // no more packets, or time went back
    kNoRoom = 5
};

struct FlowTimeouts {
    uint64_t idle_ns;
    uint64_t active_ns; // since the first packet; 0: none
};

// Time is the packets' own.  A late packet does not turn it back; a larger step back ends all flows
// and resets it.  Memory is allocated once and touched only as flows arrive; when it is full, the
// flow that was idle longest ends early.
template <class Values> class FlowCache
{
public:
    static constexpr uint32_t kRoomMax = 1u << 22; // flows

    struct Flow {
        FlowKey key;
        uint64_t number;   // from 1 on, in the order of first packets
        uint64_t first_ns; // earliest and latest timestamp
        uint64_t last_ns;
        uint64_t packets;
        Values values; // zeros before the first packet
    };
    static_assert(std::is_trivially_copyable_v<Values> &&
                  std::is_trivially_default_constructible_v<Values>);

    // The memory of that many flows.
    static constexpr uint64_t memory_bytes(uint32_t room)
    {
        return (room + uint64_t(1)) * sizeof(Entry) + std::bit_ceil(room) * sizeof(Index);
    }

    // room: number of flows, 1 to kRoomMax.  Throws std::bad_alloc, and what FlowHash throws.
    FlowCache(uint32_t room, FlowTimeouts timeouts)
        : room_(room), timeouts_(timeouts), mask_(std::bit_ceil(room) - 1),
          entries_(allocate<Entry>(room + size_t(1))), buckets_(allocate<Index>(mask_ + size_t(1)))
    {
    }

    // Returns the packet's flow, with this packet counted.  Calls on_end(flow, reason, ended_ns)
    // for each flow that has ended by then; for a timeout, ended_ns is the time of the timeout,
    // which may be long before the packet.
    template <class OnEnd> Flow &add(const FlowKey &key, uint64_t time_ns, OnEnd &&on_end)
    {
        advance(time_ns, on_end);
        const uint64_t hash = hash_(key);
        Index i = find(key, hash);
        if (i == kNone)
            i = begin(key, hash, time_ns, on_end);
        else
            idle_.remove(*this, i);
        idle_.push(*this, i);
        Entry &entry = entries_[i];
        entry.seen_ns = now_ns_;
        entry.flow.first_ns = std::min(entry.flow.first_ns, time_ns);
        entry.flow.last_ns = std::max(entry.flow.last_ns, time_ns);
        ++entry.flow.packets;
        return entry.flow;
    }

    // Keeps a flow active as if it had a packet now.
    void keep(const FlowKey &key)
    {
        const Index i = find(key, hash_(key));
        if (i == kNone)
            return;
        idle_.remove(*this, i);
        idle_.push(*this, i);
        entries_[i].seen_ns = now_ns_;
    }

    // Ends a flow without calling on_end; may be called from within an on_end for another flow.
    // nullopt if there is none.
    std::optional<Flow> take(const FlowKey &key)
    {
        const Index i = find(key, hash_(key));
        if (i == kNone)
            return std::nullopt;
        const Flow flow = entries_[i].flow;
        remove(i);
        return flow;
    }

    // Ends the flows whose timeouts have passed.
    template <class OnEnd> void advance(uint64_t time_ns, OnEnd &&on_end)
    {
        if (time_ns < now_ns_ && now_ns_ - time_ns > std::max(timeouts_.idle_ns, kNsPerSecond)) {
            end_all(on_end);
            time_jumps_.fetch_add(1, std::memory_order_relaxed);
            now_ns_ = time_ns;
        }
        now_ns_ = std::max(now_ns_, time_ns);
        while (idle_.oldest != kNone &&
               now_ns_ - entries_[idle_.oldest].seen_ns >= timeouts_.idle_ns)
            end_by_time(idle_.oldest, on_end);
        while (timeouts_.active_ns && age_.oldest != kNone &&
               now_ns_ - entries_[age_.oldest].begun_ns >= timeouts_.active_ns)
            end_by_time(age_.oldest, on_end);
    }

    template <class OnEnd> void end_all(OnEnd &&on_end)
    {
        while (age_.oldest != kNone)
            end(age_.oldest, FlowEnd::kForced, now_ns_, on_end);
    }

    uint32_t size() const { return size_; }
    uint64_t begun() const { return begun_; } // flows, since creation
    uint64_t now_ns() const { return now_ns_; }
    // Any thread.
    uint64_t time_jumps() const { return time_jumps_.load(std::memory_order_relaxed); }
    uint64_t ended_early() const { return ended_early_.load(std::memory_order_relaxed); }

private:
    using Index = uint32_t; // into entries_; 0 is unused, so that zeroed memory is an empty table
    static constexpr Index kNone = 0;
    static constexpr uint64_t kNsPerSecond = 1000000000;

    struct Neighbours {
        Index older;
        Index newer;
    };

    struct Entry {
        uint64_t hash;
        uint64_t seen_ns; // the cache's time at its last packet, and at its first
        uint64_t begun_ns;
        Index next; // in its bucket, or in the free list
        Neighbours idle;
        Neighbours age;
        Flow flow;
    };

    // Flows ordered by time.
    template <Neighbours Entry::*kPlace> struct Order {
        Index oldest = kNone, newest = kNone;

        void push(FlowCache &cache, Index i)
        {
            cache.entries_[i].*kPlace = {newest, kNone};
            (newest == kNone ? oldest : (cache.entries_[newest].*kPlace).newer) = i;
            newest = i;
        }
        void remove(FlowCache &cache, Index i)
        {
            const Neighbours at = cache.entries_[i].*kPlace;
            (at.older == kNone ? oldest : (cache.entries_[at.older].*kPlace).newer) = at.newer;
            (at.newer == kNone ? newest : (cache.entries_[at.newer].*kPlace).older) = at.older;
        }
    };

    struct Free {
        void operator()(void *memory) const { free(memory); }
    };
    template <class Item> using Memory = std::unique_ptr<Item[], Free>;

    // calloc() does not populate pages until a flow uses them.
    template <class Item> static Memory<Item> allocate(size_t items)
    {
        void *memory = calloc(items, sizeof(Item));
        if (!memory)
            throw std::bad_alloc();
        return Memory<Item>(static_cast<Item *>(memory));
    }

    Index find(const FlowKey &key, uint64_t hash) const
    {
        Index i = buckets_[hash & mask_];
        while (i != kNone &&
               (entries_[i].hash != hash || memcmp(&entries_[i].flow.key, &key, sizeof(key)) != 0))
            i = entries_[i].next;
        return i;
    }

    template <class OnEnd>
    Index begin(const FlowKey &key, uint64_t hash, uint64_t time_ns, OnEnd &&on_end)
    {
        if (size_ == room_) {
            end(idle_.oldest, FlowEnd::kNoRoom, now_ns_, on_end);
            ended_early_.fetch_add(1, std::memory_order_relaxed);
        }
        Index i = free_;
        if (i != kNone)
            free_ = entries_[i].next;
        else
            i = ++touched_;
        ++size_;
        Entry &entry = entries_[i];
        entry = {};
        entry.hash = hash;
        entry.begun_ns = now_ns_;
        entry.next = buckets_[hash & mask_];
        buckets_[hash & mask_] = i;
        entry.flow.key = key;
        entry.flow.number = ++begun_;
        entry.flow.first_ns = time_ns;
        age_.push(*this, i);
        return i;
    }

    // By the timeout that expired first, as if time had been checked continuously.
    template <class OnEnd> void end_by_time(Index i, OnEnd &&on_end)
    {
        const uint64_t idle_end_ns = entries_[i].seen_ns + timeouts_.idle_ns,
                       active_end_ns = entries_[i].begun_ns + timeouts_.active_ns;
        if (timeouts_.active_ns && active_end_ns < idle_end_ns)
            end(i, FlowEnd::kActive, active_end_ns, on_end);
        else
            end(i, FlowEnd::kIdle, idle_end_ns, on_end);
    }

    template <class OnEnd> void end(Index i, FlowEnd reason, uint64_t ended_ns, OnEnd &&on_end)
    {
        on_end(static_cast<const Flow &>(entries_[i].flow), reason, ended_ns);
        remove(i);
    }

    void remove(Index i)
    {
        Entry &entry = entries_[i];
        Index *link = &buckets_[entry.hash & mask_];
        while (*link != i)
            link = &entries_[*link].next;
        *link = entry.next;
        idle_.remove(*this, i);
        age_.remove(*this, i);
        entry.next = free_;
        free_ = i;
        --size_;
    }

    const uint32_t room_;
    const FlowTimeouts timeouts_;
    const FlowHash hash_;
    const size_t mask_;
    Memory<Entry> entries_;
    Memory<Index> buckets_;
    Order<&Entry::idle> idle_;
    Order<&Entry::age> age_;
    Index free_ = kNone;   // list of entries used before
    uint32_t touched_ = 0; // entries used at any time
    uint32_t size_ = 0;
    uint64_t begun_ = 0;
    uint64_t now_ns_ = 0;
    std::atomic<uint64_t> time_jumps_ = 0;
    std::atomic<uint64_t> ended_early_ = 0;
};
} // namespace mapi::functions
