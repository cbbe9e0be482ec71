// SPDX-License-Identifier: MIT
// A program that the kernel has accepted, for one direction or for both, with its counts.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <mapi/driver.h>

#include "drivers/xdp/code/program_code.hpp"
#include "drivers/xdp/kernel_object.hpp"
#include "drivers/xdp/program_tree.hpp"

namespace mapi::drivers::xdp
{
// Whether the kernel accepts some code alone, so that it is not asked again.
using KnownCode = std::map<std::string, bool>;

struct ProgramMaps {
    SharedArray counts;
    std::unique_ptr<SharedArray> tables;   // of its indexes; null: it has none
    std::unique_ptr<SharedArray> searches; // likewise
};

struct LoadedPrograms {
    ipc::Descriptor incoming;
    ipc::Descriptor outgoing; // not open if outgoing packets are not seen
};

// The last packet of a place; zeros if there was none.
struct LastPacket {
    uint64_t monotonic_ns = 0;
    uint64_t wire_bytes = 0;
    uint64_t real_ns = 0;
};

class Program
{
public:
    // Sets is_taken and reason of each node.  What the kernel refuses is left to the engine.  The
    // number and the maps of rings and buffers of the setup must be set; with rings for outgoing
    // packets, there is a program for them, too, with the same nodes.  Throws KernelRefusal if not
    // even a program without nodes is accepted.
    static std::unique_ptr<Program> make(std::span<mapi_offload_node> nodes, uint32_t all_bytes,
                                         ProgramSetup setup, KnownCode &known);
    // Used if make() fails: all nodes are left to the engine, and all packets are read.  `loaded`
    // is a program without nodes that wants all packets; the result shares its code and counts
    // packets from begin() on.
    static std::unique_ptr<Program>
    make_spare(const Program &loaded, std::span<mapi_offload_node> nodes, const char *reason);

    int descriptor() const { return loaded_->programs.incoming.number(); }
    int outgoing_descriptor() const { return loaded_->programs.outgoing.number(); } // -1: none
    uint32_t number() const { return loaded_->number; }
    bool wants_any() const { return loaded_->tree.wants_any(); }
    // When it is activated.
    void begin() { before_ = all(); }
    // One thread; one for each node that is taken, and a last one for all packets.
    void count(mapi_offload_count *counts) const;

    // A packet's verdicts -> its bit in the mask of each node that wants packets, and of each node
    // that could not decide.  True if all could.
    uint32_t verdict_words() const { return loaded_->tree.verdict_words(); }
    bool add_verdicts(const uint64_t *words, uint64_t bit, uint64_t *passed,
                      uint64_t *undecided) const;
    size_t nodes() const { return nodes_; }
    const ProgramTree &tree() const { return loaded_->tree; }

private:
    struct Verdict {
        std::vector<uint32_t> wanting, undecided; // nodes
    };
    // What the kernel has.
    struct Loaded {
        Loaded(ProgramTree its_tree, const ProgramSetup &setup, ProgramMaps its_maps,
               LoadedPrograms its_programs, std::vector<StateSlots::Lease> its_leases);

        ProgramTree tree;
        uint32_t number;
        uint32_t cpus;
        ProgramMaps maps;
        LoadedPrograms programs;
        std::vector<Verdict> verdicts;         // by bit
        std::vector<StateSlots::Lease> leases; // by node; null: it needs none

        mapi_offload_count count(uint32_t place) const;
        LastPacket last(uint32_t place) const;
    };

    Program(std::shared_ptr<const Loaded> loaded, size_t nodes)
        : loaded_(std::move(loaded)), nodes_(nodes)
    {
    }
    mapi_offload_count all() const { return loaded_->count(0); }
    mapi_offload_state state_of(uint32_t node) const;

    std::shared_ptr<const Loaded> loaded_;
    size_t nodes_;
    mapi_offload_count before_ = {};
    // By place; so that the time of a packet is converted once, and does not change with the
    // clocks' difference.
    mutable std::map<uint32_t, LastPacket> converted_;
};
} // namespace mapi::drivers::xdp
