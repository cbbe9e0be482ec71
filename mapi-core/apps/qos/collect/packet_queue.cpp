// SPDX-License-Identifier: MIT
// packet_queue: a bounded queue; what does not fit is counted.
#include "qos/collect/packet_queue.hpp"

#include <algorithm>

namespace qos
{
void PacketQueue::push(const SelectedPacket &packet)
{
    std::unique_lock lock(mutex_);
    if (waits_)
        has_room_.wait(lock, [this] { return packets_.size() < room_ || is_closed_; });
    if (is_closed_ || packets_.size() >= room_) {
        ++no_room_;
        return;
    }
    packets_.push_back(packet);
    has_packets_.notify_one();
}

std::vector<SelectedPacket> PacketQueue::take(size_t least, size_t most,
                                              std::chrono::milliseconds timeout)
{
    std::unique_lock lock(mutex_);
    has_packets_.wait_for(lock, timeout,
                          [&] { return packets_.size() >= std::min(least, room_) || has_end_; });
    const auto end = packets_.begin() + ptrdiff_t(std::min(most, packets_.size()));
    std::vector<SelectedPacket> taken(packets_.begin(), end);
    packets_.erase(packets_.begin(), end);
    has_room_.notify_all();
    return taken;
}

void PacketQueue::end()
{
    const std::lock_guard lock(mutex_);
    has_end_ = true;
    has_packets_.notify_all();
}

void PacketQueue::close()
{
    const std::lock_guard lock(mutex_);
    is_closed_ = true;
    has_room_.notify_all();
}

bool PacketQueue::has_ended() const
{
    const std::lock_guard lock(mutex_);
    return has_end_ && packets_.empty();
}

uint64_t PacketQueue::no_room() const
{
    const std::lock_guard lock(mutex_);
    return no_room_;
}

size_t PacketQueue::size() const
{
    const std::lock_guard lock(mutex_);
    return packets_.size();
}
} // namespace qos
