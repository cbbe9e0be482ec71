// SPDX-License-Identifier: MIT
// Packets from an XDP program through a ring buffer of the kernel (BPF_MAP_TYPE_RINGBUF), which all
// CPUs share.  A file of its own: <linux/bpf.h> and libpcap both define struct bpf_insn.
#pragma once

#include <cstdint>
#include <memory>

#include "way.hpp"

namespace bench
{
// For packets of one size.
class KernelRing
{
public:
    // drops: the host does not get the packets.  Throws KernelRefusal.
    explicit KernelRing(uint32_t packet_bytes, bool drops = false);
    ~KernelRing();

    Way way() const;
    uint64_t drops() const; // packets that found no room

private:
    struct State;
    std::unique_ptr<State> state_;
};
} // namespace bench
