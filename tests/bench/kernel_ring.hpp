// SPDX-License-Identifier: MIT
// Packets from an XDP program through a ring buffer of the kernel (BPF_MAP_TYPE_RINGBUF), which all
// CPUs share.  A file of its own: <linux/bpf.h> and libpcap both define struct bpf_insn.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace bench
{
constexpr uint32_t kRingBytes = 1 << 25;

// A way out of the kernel: a program, and a reader that takes what it has written.
struct Way {
    int program;
    std::function<void()> take;
};

// For packets of one size.
class KernelRing
{
public:
    // Throws KernelRefusal.
    explicit KernelRing(uint32_t packet_bytes);
    ~KernelRing();

    Way way() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};
} // namespace bench
