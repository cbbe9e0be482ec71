// SPDX-License-Identifier: MIT
// Packets from an XDP program through the rings of the driver xdp, one for each CPU, with the
// counts of all packets.
#pragma once

#include <cstdint>
#include <memory>

#include "support/xdp_programs.hpp"
#include "way.hpp"

namespace bench
{
class OwnRings
{
public:
    // drops: the host does not get the packets.  Throws KernelRefusal.
    explicit OwnRings(bool drops = false) : machine_(kWayBytes)
    {
        machine_.setup.drops = drops;
        program_ = machine_.make(none_, true);
    }

    Way way()
    {
        return {program_->descriptor(), [this](Taken &taken) { take(taken); }};
    }
    uint64_t drops() const
    {
        const auto drops = machine_.rings.drops();
        return drops.ring_full + drops.unreadable;
    }

private:
    void take(Taken &taken)
    {
        for (bool is_empty = false; !is_empty;) {
            for (uint32_t i = 0; i < kBatch && !is_empty; ++i) {
                const auto *record = machine_.rings.take(machine_.setup.number);
                is_empty = !record;
                if (is_empty)
                    continue;
                const auto *verdicts = reinterpret_cast<const uint64_t *>(record + 1);
                taken.add(reinterpret_cast<const uint8_t *>(verdicts + program_->verdict_words()),
                          record->caplen);
            }
            machine_.rings.release();
        }
    }

    test_support::Machine machine_;
    test_support::Nodes none_;
    std::unique_ptr<mapi::drivers::xdp::Program> program_;
};
} // namespace bench
