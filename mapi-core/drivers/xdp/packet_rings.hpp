// SPDX-License-Identifier: MIT
// The rings that the programs fill, one for each CPU and direction -> records in the order of their
// time.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "drivers/xdp/kernel_object.hpp"
#include "drivers/xdp/layout.hpp"

namespace mapi::drivers::xdp
{
// All but drops() on one thread.
class PacketRings
{
public:
    // Throws KernelRefusal.
    explicit PacketRings(RingLayout layout);

    int descriptor() const { return memory_.descriptor(); }
    const RingLayout &layout() const { return layout_; }

    // The next record of the program with this number that is complete, or null.  Packets of one
    // CPU come in their order; of several CPUs, in the order of their time as far as they are
    // complete.  Records of programs before it are skipped and counted.  The record stays until
    // release().
    const PacketRecord *take(uint32_t program);
    bool has(uint32_t program);
    // What was taken may be overwritten.
    void release();

    struct Drops {
        uint64_t ring_full = 0;
        uint64_t unreadable = 0;
        uint64_t late = 0; // written by a queue that still had an earlier program
    };
    // Any thread.
    Drops drops() const;

private:
    struct Found {
        const PacketRecord *record; // null if no record is complete
        uint32_t ring;
    };

    Found first_of_cpu(uint32_t cpu, uint32_t program);
    const PacketRecord *first(uint32_t number, uint32_t program);
    uint64_t *words(uint32_t number) const;

    const RingLayout layout_;
    SharedArray memory_;
    std::vector<uint64_t> taken_; // position in each ring
    std::atomic<uint64_t> late_ = 0;
};
} // namespace mapi::drivers::xdp
