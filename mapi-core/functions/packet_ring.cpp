// SPDX-License-Identifier: MIT
// Packet ring: packets of one device thread -> one reader.
#include "functions/packet_ring.hpp"

#include <bit>
#include <cstring>

#include "functions/ntp_time.hpp"

namespace mapi::functions
{
namespace
{
constexpr size_t kHeaderBytes = offsetof(mapipkt, pkt);
static_assert(kHeaderBytes == 20, "programs reach the frame through this offset");

// A packet that would cross the end of the memory begins at its start instead; this caplen marks the gap.  A gap too short
// for a header needs no mark.
constexpr uint32_t kGapMark = UINT32_MAX;
constexpr size_t kSmallestBytes = 24;

size_t ring_bytes(uint32_t caplen)
{
    return (kHeaderBytes + size_t(caplen) + 7) & ~size_t(7);
}
} // namespace

PacketRing::PacketRing(const PacketRingOptions &options)
    : options_(options), offset_mask_(options.bytes - 1), words_(new uint64_t[options.bytes / 8]),
      bytes_(reinterpret_cast<uint8_t *>(words_.get()))
{
}

void PacketRing::push(const mapi_batch &batch, uint64_t mask)
{
    uint64_t drops = 0;
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const mapi_packet &packet = batch.packets[std::countr_zero(rest)];
        const size_t bytes = ring_bytes(packet.caplen);
        if (reserve(bytes)) [[likely]]
            write(packet, bytes);
        else
            ++drops;
    }
    if (drops != 0)
        dropped_.fetch_add(drops, std::memory_order_relaxed);
    publish_head();
}

// Makes room for one packet in one piece at write_position_.
bool PacketRing::reserve(size_t bytes)
{
    if (bytes > options_.bytes / 2)
        return false; // with a gap before it such a packet might never fit
    const uint64_t place = write_position_ & offset_mask_;
    const uint64_t to_end = options_.bytes - place;
    const uint64_t gap = to_end < bytes ? to_end : 0;
    if (options_.bytes - (write_position_ - seen_tail_) < gap + bytes && !wait_for_room(gap + bytes))
        return false;
    if (gap >= kSmallestBytes)
        memcpy(bytes_ + place + offsetof(mapipkt, caplen), &kGapMark, sizeof(kGapMark));
    write_position_ += gap;
    return true;
}

bool PacketRing::wait_for_room(uint64_t needed)
{
    // pairs with the store in publish_tail(): the reader is done with what lies before
    seen_tail_ = tail_.load(std::memory_order_acquire);
    const auto has_room = [&] { return options_.bytes - (write_position_ - seen_tail_) >= needed; };
    if (has_room())
        return true;
    if (!options_.writer_waits)
        return false;
    publish_head(); // the reader must be able to see what fills the ring
    std::unique_lock lock(mutex_);
    // Sequentially consistent, as the store to tail_: either the reader sees the flag or this side sees the new tail.
    writer_sleeps_.store(true);
    room_.wait(lock, [&] {
        seen_tail_ = tail_.load();
        return has_room() || cancelled_.load(std::memory_order_relaxed);
    });
    writer_sleeps_.store(false);
    return has_room();
}

void PacketRing::write(const mapi_packet &packet, size_t bytes)
{
    uint8_t *const place = bytes_ + (write_position_ & offset_mask_);
    auto *header = reinterpret_cast<mapipkt *>(place);
    header->ts = ntp_time(packet.timestamp_ns);
    header->ifindex = packet.ifindex;
    header->caplen = packet.caplen;
    header->wlen = packet.wire_len;
    memcpy(place + kHeaderBytes, packet.data, packet.caplen);
    write_position_ += bytes;
}

void PacketRing::publish_head()
{
    // pairs with the load in next(); sequentially consistent against reader_sleeps_, once a batch
    head_.store(write_position_);
    if (!reader_sleeps_.load())
        return;
    const std::lock_guard lock(mutex_);
    packets_.notify_one();
}

void PacketRing::publish_tail()
{
    tail_.store(read_position_);
    if (!writer_sleeps_.load())
        return;
    const std::lock_guard lock(mutex_);
    room_.notify_one();
}

const mapipkt *PacketRing::next()
{
    read_position_ += lent_bytes_;
    lent_bytes_ = 0;
    // Giving back an eighth at a time keeps the line that both sides write out of the way of each packet.
    if (read_position_ - tail_.load(std::memory_order_relaxed) >= options_.bytes / 8)
        publish_tail();
    while (true) {
        if (read_position_ == seen_head_) {
            seen_head_ = head_.load(std::memory_order_acquire);
            if (read_position_ == seen_head_ && !wait_for_packet())
                return nullptr;
        }
        const uint64_t place = read_position_ & offset_mask_;
        const uint64_t to_end = options_.bytes - place;
        const auto *packet = reinterpret_cast<const mapipkt *>(bytes_ + place);
        if (to_end >= kSmallestBytes && packet->caplen != kGapMark) {
            lent_bytes_ = ring_bytes(packet->caplen);
            return packet;
        }
        read_position_ += to_end;
    }
}

// False when there is none and none will come now.
bool PacketRing::wait_for_packet()
{
    publish_tail();
    if (!options_.reader_waits)
        return false;
    std::unique_lock lock(mutex_);
    reader_sleeps_.store(true);
    packets_.wait(lock, [&] {
        seen_head_ = head_.load();
        return read_position_ != seen_head_ || ended_ || cancelled_.load(std::memory_order_relaxed);
    });
    reader_sleeps_.store(false);
    return read_position_ != seen_head_;
}

void PacketRing::end()
{
    const std::lock_guard lock(mutex_);
    ended_ = true;
    packets_.notify_all();
}

void PacketRing::cancel()
{
    const std::lock_guard lock(mutex_);
    cancelled_.store(true, std::memory_order_relaxed);
    packets_.notify_all();
    room_.notify_all();
}
} // namespace mapi::functions
