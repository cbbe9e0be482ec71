// SPDX-License-Identifier: MIT
// Queue: packets that wait -> the one that is due first; of those due together, in their order.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "record.hpp"

namespace impair
{
struct Packet {
    Record record;
    std::vector<uint8_t> frame;
};

class Queue
{
public:
    explicit Queue(uint64_t limit) : limit_(limit) {}

    bool is_full() const { return heap_.size() >= limit_; }
    bool is_empty() const { return heap_.empty(); }
    size_t size() const { return heap_.size(); }
    uint64_t due_ns() const { return heap_.empty() ? UINT64_MAX : heap_[0].packet.record.due_ns; }

    void push(Packet packet)
    {
        heap_.push_back({std::move(packet), order_++});
        std::push_heap(heap_.begin(), heap_.end(), is_later);
    }
    Packet pop()
    {
        std::pop_heap(heap_.begin(), heap_.end(), is_later);
        Packet packet = std::move(heap_.back().packet);
        heap_.pop_back();
        return packet;
    }

private:
    struct Entry {
        Packet packet;
        uint64_t order;
    };
    static bool is_later(const Entry &left, const Entry &right)
    {
        return std::pair(left.packet.record.due_ns, left.order) >
               std::pair(right.packet.record.due_ns, right.order);
    }

    const uint64_t limit_;
    uint64_t order_ = 0;
    std::vector<Entry> heap_;
};
} // namespace impair
