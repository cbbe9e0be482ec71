// SPDX-License-Identifier: MIT
// Flow table: flow keys -> one state per key, for as long as packets arrive; limited in size.
#pragma once

#include <cstdint>
#include <list>
#include <unordered_map>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include "functions/common/flow_key.hpp"
#include "functions/common/random_seed.hpp"

namespace mapi::functions
{
template <class State> class FlowTable
{
public:
    // Upper bound of the memory of that many flows, without what their states point to.
    static constexpr uint64_t memory_bytes(size_t flows_max)
    {
        return flows_max * (sizeof(Flow) + sizeof(FlowKey) + 8 * sizeof(void *));
    }

    FlowTable(size_t flows_max, uint64_t idle_ns)
        : flows_max_(flows_max), idle_ns_(idle_ns), places_(0, Hash{random_seed()})
    {
    }

    // A flow that was silent for too long is restarted.  If the table is full, the flow that has
    // been silent longest is evicted.
    State &touch(const FlowKey &key, uint64_t now_ns)
    {
        // Two per packet: flows leave faster than they arrive, and no packet pays for all flows
        // that a pause has ended.
        for (int i = 0; i < 2 && !flows_.empty() && is_over(flows_.front(), now_ns); ++i)
            forget_oldest();
        if (const auto found = places_.find(key); found != places_.end()) {
            flows_.splice(flows_.end(), flows_, found->second);
            if (is_over(flows_.back(), now_ns)) {
                flows_.back().state = State{};
                ++begun_;
            }
        } else {
            if (flows_.size() >= flows_max_) {
                forget_oldest();
                ++pushed_out_;
            }
            flows_.emplace_back(key);
            places_.emplace(key, std::prev(flows_.end()));
            ++begun_;
        }
        flows_.back().last_ns = now_ns;
        return flows_.back().state;
    }

    size_t size() const { return flows_.size(); }
    uint64_t begun() const { return begun_; }
    // Flows evicted to make room for others.
    uint64_t pushed_out() const { return pushed_out_; }

private:
    struct Flow {
        explicit Flow(const FlowKey &k) : key(k) {}
        FlowKey key;
        uint64_t last_ns = 0;
        State state{};
    };
    struct Hash {
        uint64_t seed;
        size_t operator()(const FlowKey &key) const noexcept
        {
            return size_t(XXH3_64bits_withSeed(&key, sizeof key, seed));
        }
    };

    bool is_over(const Flow &flow, uint64_t now_ns) const
    {
        return now_ns > flow.last_ns && now_ns - flow.last_ns > idle_ns_;
    }
    void forget_oldest()
    {
        places_.erase(flows_.front().key);
        flows_.pop_front();
    }

    const size_t flows_max_;
    const uint64_t idle_ns_;
    std::list<Flow> flows_; // longest silent first
    std::unordered_map<FlowKey, typename std::list<Flow>::iterator, Hash> places_;
    uint64_t begun_ = 0;
    uint64_t pushed_out_ = 0;
};
} // namespace mapi::functions
