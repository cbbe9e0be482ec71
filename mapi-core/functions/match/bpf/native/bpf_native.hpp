// SPDX-License-Identifier: MIT
// Machine code of a filter: BPF instructions -> one call that filters a whole batch.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <pcap/pcap.h>

#include <mapi/packet.h>

namespace mapi::match
{
// One piece of executable memory.  It is never writable and executable at the same time.
class NativeFilter
{
public:
    using Run = uint64_t (*)(const mapi_packet *packets, uint64_t mask);

    // Returns null if this build, processor or program cannot have machine code; the caller then
    // interprets.  The instructions must have passed bpf_validate().
    static std::unique_ptr<NativeFilter> make(std::span<const bpf_insn> program);

    ~NativeFilter();
    NativeFilter(const NativeFilter &) = delete;
    NativeFilter &operator=(const NativeFilter &) = delete;

    uint64_t run(const mapi_packet *packets, uint64_t mask) const noexcept
    {
        return run_(packets, mask);
    }

private:
    NativeFilter(void *memory, size_t memory_bytes, Run run)
        : memory_(memory), memory_bytes_(memory_bytes), run_(run)
    {
    }

    void *memory_;
    size_t memory_bytes_;
    Run run_;
};
} // namespace mapi::match
