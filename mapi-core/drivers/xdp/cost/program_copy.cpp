// SPDX-License-Identifier: MIT
// A program's nodes -> the same program with maps of its own.
#include "drivers/xdp/cost/program_copy.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <limits>

#include "match/bpf/native/bpf_emit_ebpf.hpp"

namespace mapi::drivers::xdp
{
namespace
{
// Any CPU may run the copy, and the program's own ring may be much larger.
constexpr uint32_t kRingBytes = std::bit_ceil(2 * kRecordBytesMax);
} // namespace

CopiedNodes::CopiedNodes(const ProgramTree &tree) : all_bytes_(tree.all_bytes())
{
    const std::span all = tree.nodes();
    std::vector<uint32_t> copied_as(all.size(), MAPI_OFFLOAD_ALL);
    for (size_t i = 0; i < all.size(); ++i) {
        if (!all[i].is_taken)
            continue;
        copied_as[i] = uint32_t(nodes_.size());
        mapi_offload_node &node = nodes_.emplace_back(all[i]);
        if (node.source != MAPI_OFFLOAD_ALL)
            node.source = copied_as[node.source];
        own(node.step);
    }
}

void CopiedNodes::own(mapi_offload_step &step)
{
    if (step.code)
        step.code = codes_.emplace_back(step.code, step.code + step.code_count).data();
    if (!step.search)
        return;
    Search &mine = searches_.emplace_back(
        Search{*step.search, {step.search->texts, step.search->texts + step.search->text_count}});
    for (mapi_search_text &text : mine.texts)
        text.bytes = texts_.emplace_back(text.bytes, text.bytes + text.count).data();
    mine.search.texts = mine.texts.data();
    step.search = &mine.search;
}

ProgramCopy::ProgramCopy(CopiedNodes &nodes, ProgramSetup setup)
    : rings_({setup.ring.cpus, kRingBytes}),
      buffers_("mapi_buffers", size_t{setup.ring.cpus} * match::kEbpfBufferBytes),
      probes_(setup.probes ? make_probe_maps(setup.ring.cpus, ProbeUse::kHidden) : nullptr),
      number_(setup.number)
{
    setup.ring = rings_.layout();
    setup.rings = rings_.descriptor();
    setup.buffers = buffers_.descriptor();
    setup.states = &states_;
    setup.probes = probes_.get();
    KnownCode known;
    program_ = Program::make(nodes.nodes(), nodes.all_bytes(), setup, known);
    for (const mapi_offload_node &node : nodes.nodes()) {
        if (!node.is_taken)
            throw KernelRefusal(std::string("a copy of the program: ") + node.reason, ENOMEM);
    }
}

uint32_t ProgramCopy::runs_until_full(size_t packet_bytes) const
{
    if (!program_->wants_any())
        return std::numeric_limits<uint32_t>::max();
    const size_t record_bytes =
        sizeof(PacketRecord) + size_t{8} * program_->verdict_words() + packet_bytes + 8;
    return uint32_t(std::max<size_t>(kRingBytes / record_bytes, 1));
}

void ProgramCopy::clear_ring()
{
    while (rings_.take(number_)) {
    }
    rings_.release();
}
} // namespace mapi::drivers::xdp
