// SPDX-License-Identifier: MIT
// The maps of the probes of a device's programs, by which a recorder finds them: rings of records,
// and the table of sites.
#pragma once

#include <cstdint>
#include <memory>

#include "drivers/xdp/layout.hpp"

#ifndef NETSLICE_DISABLE
#include <nslice/bpf_site.h>
#include <nslice/ring.h>

#include "drivers/xdp/kernel_object.hpp"
#endif

namespace mapi::drivers::xdp
{
// What a program does with a packet.  The first one is the unit, the others are slices.
enum class Stage : uint8_t { kPacket, kFilters, kSearch, kHash, kRecord };
enum class Edge : uint8_t { kBegin, kEnd };

// kFound: by recorders, by the maps' names.  kHidden: for a program whose test runs must not be
// recorded.
enum class ProbeUse : uint8_t { kFound, kHidden };

#ifdef NETSLICE_DISABLE
class ProbeMaps
{
};

inline std::unique_ptr<ProbeMaps> make_probe_maps(uint32_t, ProbeUse = ProbeUse::kFound)
{
    return nullptr;
}
#else
class ProbeMaps
{
public:
    static constexpr uint32_t kStages = 5, kSites = 2 * 2 * kStages;
    static constexpr int16_t kNoOffset = -1;

    // thread_offset: of the thread's number in struct task_struct, or kNoOffset if a helper
    // returns it.  Throws KernelRefusal.
    ProbeMaps(uint32_t cpus, ProbeUse use, int16_t thread_offset);

    static uint32_t site_of(Direction direction, Stage stage, Edge edge)
    {
        return 2 * (kStages * uint32_t(direction) + uint32_t(stage)) + uint32_t(edge);
    }

    int sites() const { return sites_.descriptor(); }
    int rings() const { return rings_.descriptor(); }
    uint32_t data_bytes() const { return data_bytes_; } // of each CPU's ring
    int16_t thread_offset() const { return thread_offset_; }
    nslice_bpf_site &site(uint32_t number)
    {
        return reinterpret_cast<nslice_bpf_site *>(sites_.words().data())[number];
    }
    nslice_ring_meta &ring(uint32_t cpu)
    {
        return *reinterpret_cast<nslice_ring_meta *>(
            rings_.words().data() + cpu * (NSLICE_RING_META_BYTES + data_bytes_) / 8);
    }

private:
    const uint32_t data_bytes_;
    const int16_t thread_offset_;
    SharedArray sites_, rings_;
};

// Null if a program of this kernel cannot tell which thread it runs in.  Throws KernelRefusal.
std::unique_ptr<ProbeMaps> make_probe_maps(uint32_t cpus, ProbeUse use = ProbeUse::kFound);
#endif
} // namespace mapi::drivers::xdp
