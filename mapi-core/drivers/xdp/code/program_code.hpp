// SPDX-License-Identifier: MIT
// A tree of nodes -> the program that runs them on each packet of a direction.
#pragma once

#include <cstdint>
#include <span>

#include "drivers/xdp/layout.hpp"
#include "drivers/xdp/program_tree.hpp"
#include "drivers/xdp/state_slots.hpp"
#include "match/bpf/native/ebpf_code.hpp"

namespace mapi::drivers::xdp
{
class ProbeMaps;

struct ProgramSetup {
    uint32_t number;      // of the program, in the records of its packets
    uint32_t snaplen;     // bytes of a packet that are read, at most kSnaplenMax
    bool takes_fragments; // packets in several pieces are copied, and then filtered
    bool drops = false;   // all incoming packets, once they are counted and copied
    RingLayout ring;      // of all CPUs
    int counts;           // descriptors of maps: counts of the program,
    int rings;            // packets that are read,
    int tables = -1;      // of its indexes, FilterIndex::kTableEntries each, if it has some,
    int searches = -1;    // its SearchSet, if it has one,
    int buffers;          // copies of packets, kEbpfBufferBytes for each CPU
    StateSlots *states = nullptr;                   // null: no periodic sample can be taken
    std::span<const StateSlots::Lease> leases = {}; // by node; null unless it is a periodic sample
    const ProbeMaps *probes = nullptr;              // null: the program has no probes
    Direction direction = Direction::kIncoming;     // of the packets that the program gets
};

// Appends the program.  Throws FilterError if it is too long.
void emit_program(const ProgramTree &tree, const ProgramSetup &setup, match::EbpfCode &code);
} // namespace mapi::drivers::xdp
