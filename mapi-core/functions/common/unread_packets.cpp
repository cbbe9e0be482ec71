// SPDX-License-Identifier: MIT
// Unread packets: only batches that may have unsupported link types are examined packet by packet.
#include "functions/common/unread_packets.hpp"

#include <bit>

namespace mapi::functions
{
void UnreadPackets::note_each(const mapi_batch &batch, uint64_t mask)
{
    uint64_t packets = 0;
    for (; mask != 0; mask &= mask - 1)
        packets += !links::is_known(batch.packets[std::countr_zero(mask)]);
    link_types_.fetch_add(packets, std::memory_order_relaxed);
}

void UnreadPackets::note_header(const mapi_packet &packet)
{
    if (links::is_known(packet))
        headers_.fetch_add(1, std::memory_order_relaxed);
}
} // namespace mapi::functions
