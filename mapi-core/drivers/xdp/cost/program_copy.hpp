// SPDX-License-Identifier: MIT
// A copy of a program: the same code with counts, tables and a ring of its own, so that its runs
// change nothing of the program that it copies.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "drivers/xdp/packet_rings.hpp"
#include "drivers/xdp/probe_maps.hpp"
#include "drivers/xdp/program.hpp"

namespace mapi::drivers::xdp
{
// Nodes of a program that it runs, with what they point to: they outlive the program.
class CopiedNodes
{
public:
    explicit CopiedNodes(const ProgramTree &tree);
    CopiedNodes(const CopiedNodes &) = delete;
    CopiedNodes &operator=(const CopiedNodes &) = delete;

    std::span<mapi_offload_node> nodes() { return nodes_; }
    uint32_t all_bytes() const { return all_bytes_; }

private:
    struct Search {
        mapi_search search;
        std::vector<mapi_search_text> texts;
    };
    void own(mapi_offload_step &step);

    std::vector<mapi_offload_node> nodes_;
    std::deque<std::vector<mapi_filter_code>> codes_;
    std::deque<Search> searches_;
    std::deque<std::vector<uint8_t>> texts_;
    uint32_t all_bytes_;
};

class ProgramCopy
{
public:
    // The maps and the ring's size of the setup are not used; everything else is that of the
    // program.  Throws KernelRefusal.
    ProgramCopy(CopiedNodes &nodes, ProgramSetup setup);

    int descriptor() const { return program_->descriptor(); }
    // Of a packet of so many bytes, before clear_ring() is needed.
    uint32_t runs_until_full(size_t packet_bytes) const;
    void clear_ring();
    uint64_t lost_packets() const { return rings_.drops().ring_full; }

private:
    PacketRings rings_;
    SharedArray buffers_;
    StateSlots states_;
    std::unique_ptr<ProbeMaps> probes_;
    uint32_t number_;
    std::unique_ptr<Program> program_;
};
} // namespace mapi::drivers::xdp
