// SPDX-License-Identifier: MIT
// Stages -> sites of probes in a map; rings for their records.
#include "drivers/xdp/probe_maps.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string_view>

#include <bpf/libbpf.h>
#include <linux/bpf.h>
#include <nslice/record.h>

namespace mapi::drivers::xdp
{
namespace
{
constexpr uint32_t kDataBytes = 64 << 10;
constexpr uint32_t kLeastDataBytes = 4 << 10; // no record is read

struct StageNames {
    const char *incoming, *outgoing;
    uint32_t line;
};
constexpr StageNames kNames[ProbeMaps::kStages] = {
    {"xdp_packet", "tcx_packet", __LINE__}, //
    {"xdp_filters", "tcx_filters", __LINE__}, {"xdp_search", "tcx_search", __LINE__},
    {"xdp_hash", "tcx_hash", __LINE__},       {"xdp_record", "tcx_record", __LINE__},
};

uint8_t kind_of(Stage stage, Edge edge)
{
    if (stage == Stage::kPacket)
        return edge == Edge::kBegin ? NSLICE_KIND_INIT : NSLICE_KIND_EXIT;
    return edge == Edge::kBegin ? NSLICE_KIND_START : NSLICE_KIND_STOP;
}

// Terminated, as the memory is zeroed; of what is too long, the end.
template <size_t kBytes> void copy(char (&to)[kBytes], std::string_view text)
{
    text.remove_prefix(text.size() - std::min(text.size(), kBytes - 1));
    std::ranges::copy(text, to);
}

// Whether programs of both directions may call it.
bool has_helper(bpf_func_id helper)
{
    return libbpf_probe_bpf_helper(BPF_PROG_TYPE_XDP, helper, nullptr) == 1 &&
           libbpf_probe_bpf_helper(BPF_PROG_TYPE_SCHED_CLS, helper, nullptr) == 1;
}

// kNoOffset if a helper returns the thread, as for these types of programs since Linux 6.10; none
// if the thread is not known.
std::optional<int16_t> find_thread_offset()
{
    if (has_helper(BPF_FUNC_get_current_pid_tgid))
        return ProbeMaps::kNoOffset;
    if (!has_helper(BPF_FUNC_get_current_task_btf))
        return std::nullopt;
    try {
        return member_offset("task_struct", "pid");
    } catch (const KernelRefusal &) { // a kernel without BTF
        return std::nullopt;
    }
}
} // namespace

ProbeMaps::ProbeMaps(uint32_t cpus, ProbeUse use, int16_t thread_offset)
    : data_bytes_(use == ProbeUse::kFound ? kDataBytes : kLeastDataBytes),
      thread_offset_(thread_offset),
      sites_(use == ProbeUse::kFound ? NSLICE_BPF_SITES : "mapi_sites",
             kSites * sizeof(nslice_bpf_site)),
      rings_(use == ProbeUse::kFound ? NSLICE_BPF_RINGS : "mapi_records",
             size_t{NSLICE_RING_META_BYTES} + data_bytes_, cpus)
{
    for (const Direction direction : {Direction::kIncoming, Direction::kOutgoing}) {
        for (uint32_t stage = 0; stage < kStages; ++stage) {
            const StageNames &names = kNames[stage];
            for (const Edge edge : {Edge::kBegin, Edge::kEnd}) {
                nslice_bpf_site &its = site(site_of(direction, Stage(stage), edge));
                its.line = names.line;
                its.kind = kind_of(Stage(stage), edge);
                copy(its.name, direction == Direction::kIncoming ? names.incoming : names.outgoing);
                copy(its.file, __FILE__);
            }
        }
    }
}

std::unique_ptr<ProbeMaps> make_probe_maps(uint32_t cpus, ProbeUse use)
{
    // Kept once maps could be made: without memory or a capability, probing finds nothing, or what
    // is not there, and may be right for the next device.
    constexpr int32_t kUnknown = INT32_MIN;
    static std::atomic<int32_t> known = kUnknown;
    int32_t offset = known.load(std::memory_order_relaxed);
    if (offset == kUnknown) {
        const std::optional<int16_t> found = find_thread_offset();
        if (!found)
            return nullptr;
        offset = *found;
    }
    auto maps = std::make_unique<ProbeMaps>(cpus, use, int16_t(offset));
    known.store(offset, std::memory_order_relaxed);
    return maps;
}
} // namespace mapi::drivers::xdp
