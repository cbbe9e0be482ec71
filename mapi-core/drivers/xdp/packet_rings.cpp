// SPDX-License-Identifier: MIT
// Reading the rings: positions as the program writes them -> records.
#include "drivers/xdp/packet_rings.hpp"

namespace mapi::drivers::xdp
{
PacketRings::PacketRings(RingLayout layout)
    : layout_(layout), memory_("mapi_rings", size_t{layout.rings()} * layout.stride_bytes()),
      taken_(layout.rings(), 0)
{
}

uint64_t *PacketRings::words(uint32_t number) const
{
    return memory_.words().data() + size_t{number} * layout_.stride_bytes() / sizeof(uint64_t);
}

const PacketRecord *PacketRings::first(uint32_t number, uint32_t program)
{
    uint64_t *const ring = words(number);
    while (__atomic_load_n(ring + kWritten, __ATOMIC_ACQUIRE) != taken_[number]) {
        const uint64_t offset = taken_[number] & (layout_.data_bytes - 1);
        const auto *record = reinterpret_cast<const PacketRecord *>(ring + kRingHeadWords +
                                                                    offset / sizeof(uint64_t));
        const auto later_by = int32_t(record->program - program);
        if (later_by >= 0)
            return later_by == 0 ? record : nullptr;
        taken_[number] += record->bytes;
        late_.fetch_add(1, std::memory_order_relaxed);
    }
    return nullptr;
}

// The earliest record of a CPU, of both directions.  If there is an outgoing record, an earlier
// incoming one that was not complete when it was first looked for is complete now.
PacketRings::Found PacketRings::first_of_cpu(uint32_t cpu, uint32_t program)
{
    const Found incoming = {first(cpu, program), cpu};
    if (!layout_.has_outgoing)
        return incoming;
    const Found outgoing = {first(layout_.cpus + cpu, program), layout_.cpus + cpu};
    if (!outgoing.record)
        return incoming;
    const PacketRecord *const again = first(cpu, program);
    return again && again->time_ns <= outgoing.record->time_ns ? Found{again, cpu} : outgoing;
}

const PacketRecord *PacketRings::take(uint32_t program)
{
    Found earliest = {nullptr, 0};
    for (uint32_t cpu = 0; cpu < layout_.cpus; ++cpu) {
        const Found found = first_of_cpu(cpu, program);
        if (found.record && (!earliest.record || found.record->time_ns < earliest.record->time_ns))
            earliest = found;
    }
    if (earliest.record)
        taken_[earliest.ring] += earliest.record->bytes;
    return earliest.record;
}

bool PacketRings::has(uint32_t program)
{
    for (uint32_t number = 0; number < layout_.rings(); ++number) {
        if (first(number, program))
            return true;
    }
    return false;
}

void PacketRings::release()
{
    for (uint32_t number = 0; number < layout_.rings(); ++number)
        __atomic_store_n(words(number) + kTaken, taken_[number], __ATOMIC_RELEASE);
}

PacketRings::Drops PacketRings::drops() const
{
    Drops drops;
    drops.late = late_.load(std::memory_order_relaxed);
    for (uint32_t number = 0; number < layout_.rings(); ++number) {
        drops.ring_full += __atomic_load_n(words(number) + kRingFull, __ATOMIC_RELAXED);
        drops.unreadable += __atomic_load_n(words(number) + kUnreadable, __ATOMIC_RELAXED);
    }
    return drops;
}
} // namespace mapi::drivers::xdp
