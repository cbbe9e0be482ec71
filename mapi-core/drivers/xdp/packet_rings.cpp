// SPDX-License-Identifier: MIT
// Reading the rings: positions as the program writes them -> records.
#include "drivers/xdp/packet_rings.hpp"

namespace mapi::drivers::xdp
{
PacketRings::PacketRings(RingLayout layout)
    : layout_(layout), memory_("mapi_rings", size_t{layout.cpus} * layout.stride_bytes()),
      taken_(layout.cpus, 0)
{
}

uint64_t *PacketRings::words(uint32_t cpu) const
{
    return memory_.words().data() + size_t{cpu} * layout_.stride_bytes() / sizeof(uint64_t);
}

const PacketRecord *PacketRings::first(uint32_t cpu, uint32_t program)
{
    uint64_t *const ring = words(cpu);
    while (__atomic_load_n(ring + kWritten, __ATOMIC_ACQUIRE) != taken_[cpu]) {
        const uint64_t offset = taken_[cpu] & (layout_.data_bytes - 1);
        const auto *record = reinterpret_cast<const PacketRecord *>(ring + kRingHeadWords +
                                                                    offset / sizeof(uint64_t));
        const auto later_by = int32_t(record->program - program);
        if (later_by >= 0)
            return later_by == 0 ? record : nullptr;
        taken_[cpu] += record->bytes;
        late_.fetch_add(1, std::memory_order_relaxed);
    }
    return nullptr;
}

const PacketRecord *PacketRings::take(uint32_t program)
{
    const PacketRecord *earliest = nullptr;
    uint32_t its_cpu = 0;
    for (uint32_t cpu = 0; cpu < layout_.cpus; ++cpu) {
        const PacketRecord *const record = first(cpu, program);
        if (record && (!earliest || record->time_ns < earliest->time_ns)) {
            earliest = record;
            its_cpu = cpu;
        }
    }
    if (earliest)
        taken_[its_cpu] += earliest->bytes;
    return earliest;
}

bool PacketRings::has(uint32_t program)
{
    for (uint32_t cpu = 0; cpu < layout_.cpus; ++cpu) {
        if (first(cpu, program))
            return true;
    }
    return false;
}

void PacketRings::release()
{
    for (uint32_t cpu = 0; cpu < layout_.cpus; ++cpu)
        __atomic_store_n(words(cpu) + kTaken, taken_[cpu], __ATOMIC_RELEASE);
}

PacketRings::Drops PacketRings::drops() const
{
    Drops drops;
    drops.late = late_.load(std::memory_order_relaxed);
    for (uint32_t cpu = 0; cpu < layout_.cpus; ++cpu) {
        drops.ring_full += __atomic_load_n(words(cpu) + kRingFull, __ATOMIC_RELAXED);
        drops.unreadable += __atomic_load_n(words(cpu) + kUnreadable, __ATOMIC_RELAXED);
    }
    return drops;
}
} // namespace mapi::drivers::xdp
