// SPDX-License-Identifier: MIT
// XDP programs that are run on given packets, without an interface.
#pragma once

#include <cmath>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "drivers/xdp/packet_rings.hpp"
#include "drivers/xdp/probe_maps.hpp"
#include "drivers/xdp/program.hpp"
#include "match/bpf/bpf_program.hpp"
#include "match/bpf/native/bpf_emit_ebpf.hpp"
#include "support/rings_owner.hpp"

namespace test_support
{
using namespace mapi::drivers::xdp;
using Bytes = std::vector<uint8_t>;

constexpr uint32_t kAll = MAPI_OFFLOAD_ALL;

inline Bytes udp_to(uint16_t port, size_t bytes = 60)
{
    Bytes frame(bytes, 0);
    frame[12] = 8;
    frame[14] = 0x45;
    frame[23] = 17;
    frame[36] = uint8_t(port >> 8);
    frame[37] = uint8_t(port);
    return frame;
}

// Nodes of a program, and what they point to.
class Nodes
{
public:
    uint32_t filter(const std::string &expression, uint32_t source, bool wants_packets = false)
    {
        filters_.push_back(mapi::match::BpfProgram::compile(expression, 1, 0));
        return code(filters_.back().instructions(), source, wants_packets);
    }
    uint32_t count(uint32_t source) { return add(MAPI_OFFLOAD_COUNT, source); }
    uint32_t last(uint32_t source) { return add(MAPI_OFFLOAD_LAST, source); }
    // Every period-th packet.
    uint32_t sample(uint64_t period, uint64_t state, uint32_t source)
    {
        const uint32_t node = add(MAPI_OFFLOAD_SAMPLE, source);
        nodes[node].step.period = period;
        nodes[node].state = state;
        return node;
    }
    // Each packet with a probability.
    uint32_t sample_some(double probability, uint32_t source)
    {
        const uint32_t node = add(MAPI_OFFLOAD_SAMPLE, source);
        nodes[node].step.threshold = uint64_t(std::ldexp(probability, 32));
        return node;
    }
    uint32_t add(uint32_t kind, uint32_t source)
    {
        mapi_offload_node node = {};
        node.step.kind = kind;
        node.source = source;
        nodes.push_back(node);
        return uint32_t(nodes.size() - 1);
    }
    void want(uint32_t node, uint32_t bytes)
    {
        nodes[node].wants_packets = 1;
        nodes[node].wants_bytes = bytes;
    }

    uint32_t search(std::shared_ptr<const mapi_search> search, uint32_t source,
                    bool wants_packets = false)
    {
        mapi_offload_node node = {};
        node.step.kind = MAPI_OFFLOAD_SEARCH;
        node.step.search = search.get();
        node.source = source;
        node.wants_packets = wants_packets;
        nodes.push_back(node);
        searches_.push_back(std::move(search));
        return uint32_t(nodes.size() - 1);
    }

    uint32_t code(std::span<const bpf_insn> instructions, uint32_t source, bool wants_packets)
    {
        mapi_offload_node node = {};
        node.step.kind = MAPI_OFFLOAD_FILTER;
        node.step.code = reinterpret_cast<const mapi_filter_code *>(instructions.data());
        node.step.code_count = uint32_t(instructions.size());
        node.source = source;
        node.wants_packets = wants_packets;
        nodes.push_back(node);
        return uint32_t(nodes.size() - 1);
    }

    std::vector<mapi_offload_node> nodes;

private:
    std::vector<mapi::match::BpfProgram> filters_;
    std::vector<std::shared_ptr<const mapi_search>> searches_;
};

class Machine
{
public:
    explicit Machine(uint32_t ring_bytes = 1 << 18, bool has_outgoing = false)
        : rings({count_cpus(), ring_bytes, has_outgoing}), probes(make_probe_maps(count_cpus())),
          buffers_("buffers", size_t{count_cpus()} * mapi::match::kEbpfBufferBytes)
    {
        setup = {.number = 1,
                 .snaplen = kSnaplenMax,
                 .takes_fragments = true,
                 .ring = rings.layout(),
                 .counts = -1,
                 .rings = rings.descriptor(),
                 .buffers = buffers_.descriptor(),
                 .states = &states,
                 .probes = probes.get()};
#ifndef NETSLICE_DISABLE // a recorder of all programs leaves these alone
        if (probes)
            probes->ring(0).owner = rings_owner();
#endif
    }

    std::unique_ptr<Program> make(Nodes &nodes, bool wants_all = false)
    {
        return make_with(nodes, wants_all ? MAPI_OFFLOAD_WHOLE : 0);
    }
    std::unique_ptr<Program> make_with(Nodes &nodes, uint32_t all_bytes)
    {
        return Program::make(nodes.nodes, all_bytes, setup, known);
    }

    PacketRings rings;
    StateSlots states;
    std::unique_ptr<ProbeMaps> probes; // as the driver: off until a recorder writes into them
    ProgramSetup setup;
    KnownCode known;

private:
    SharedArray buffers_;
};

inline std::vector<mapi_offload_count> counts(const Program &program)
{
    std::vector<mapi_offload_count> counts(program.nodes() + 1);
    program.count(counts.data());
    return counts;
}

} // namespace test_support
