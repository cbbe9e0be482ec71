// SPDX-License-Identifier: MIT
// Nodes -> the largest program of them that the kernel accepts.
#include "drivers/xdp/program.hpp"

#include <bit>
#include <cerrno>

#include "match/bpf/native/bpf_emit_ebpf.hpp"
#include "match/errors.hpp"

namespace mapi::drivers::xdp
{
namespace
{
constexpr uint32_t kNodesMax = 1024; // counts are addressed by 16-bit offsets
constexpr char kName[] = "mapi";
constexpr char kRefusedFilter[] = "the kernel's verifier refuses the filter";

bool can_run(const mapi_offload_step &step)
{
    static_assert(sizeof(bpf_insn) == sizeof(mapi_filter_code));
    return step.kind == MAPI_OFFLOAD_COUNT ||
           (step.kind == MAPI_OFFLOAD_FILTER &&
            match::can_emit_ebpf({reinterpret_cast<const bpf_insn *>(step.code), step.code_count}));
}

void refuse(mapi_offload_node &node, const char *reason)
{
    node.is_taken = 0;
    node.reason = reason;
}

std::string code_of(const mapi_offload_node &node)
{
    return {reinterpret_cast<const char *>(node.step.code),
            node.step.code_count * sizeof(mapi_filter_code)};
}

ipc::Descriptor load(const ProgramTree &tree, ProgramSetup setup, int counts, int tables)
{
    setup.counts = counts;
    setup.tables = tables;
    match::EbpfCode code;
    emit_program(tree, setup, code);
    return load_xdp_program(kName, code.finish(), setup.takes_fragments);
}

SharedArray make_counts(const ProgramTree &tree, uint32_t cpus)
{
    return {"mapi_counts", size_t{8} * cpus * tree.count_words()};
}

std::unique_ptr<SharedArray> make_tables(const ProgramTree &tree)
{
    constexpr size_t kEntries = FilterIndex::kTableEntries;
    if (tree.tables() == 0)
        return nullptr;
    auto tables =
        std::make_unique<SharedArray>("mapi_tables", tree.tables() * kEntries * sizeof(uint16_t));
    const std::span all(reinterpret_cast<uint16_t *>(tables->words().data()),
                        tree.tables() * kEntries);
    for (const auto &[place, index] : tree.indexes()) {
        for (size_t field = 0; field < index->fields(); ++field)
            index->fill(field, all.subspan((tree.first_table(place) + field) * kEntries, kEntries));
    }
    return tables;
}

// Whether the kernel accepts a program of this filter alone.
bool is_accepted(const mapi_offload_node &node, const ProgramSetup &setup)
{
    mapi_offload_node alone = node;
    alone.source = MAPI_OFFLOAD_ALL;
    alone.is_taken = 1;
    const ProgramTree tree({&alone, 1}, false);
    try {
        load(tree, setup, make_counts(tree, setup.ring.cpus).descriptor(), -1);
        return true;
    } catch (const KernelRefusal &refusal) {
        if (refusal.number() == ENOMEM || refusal.number() == EMFILE || refusal.number() == EPERM)
            throw; // not the filter's fault
        return false;
    }
}

std::vector<mapi_offload_node *> filters_of(std::span<mapi_offload_node> nodes)
{
    std::vector<mapi_offload_node *> filters;
    for (mapi_offload_node &node : nodes) {
        if (node.is_taken && node.step.kind == MAPI_OFFLOAD_FILTER)
            filters.push_back(&node);
    }
    return filters;
}

void leave_out_half(const std::vector<mapi_offload_node *> &filters)
{
    for (size_t i = filters.size() / 2; i < filters.size(); ++i)
        refuse(*filters[i], "the kernel accepts no program with so many filters");
}

// After a refusal: leaves out what is refused alone, or else the second half.
void leave_out_refused(const std::vector<mapi_offload_node *> &filters, const ProgramSetup &setup,
                       RefusedFilters &refused)
{
    bool has_refused = false;
    for (mapi_offload_node *filter : filters) {
        if (is_accepted(*filter, setup))
            continue;
        refuse(*filter, kRefusedFilter);
        refused.insert(code_of(*filter));
        has_refused = true;
    }
    if (!has_refused)
        leave_out_half(filters);
}
} // namespace

std::unique_ptr<Program> Program::make(std::span<mapi_offload_node> nodes, bool wants_all,
                                       const ProgramSetup &setup, RefusedFilters &refused)
{
    for (size_t i = 0; i < nodes.size(); ++i) {
        nodes[i].is_taken = 1;
        if (i >= kNodesMax)
            refuse(nodes[i], "the program has as many functions as it can have");
        else if (!can_run(nodes[i].step))
            refuse(nodes[i], "eBPF has no such instruction");
        else if (nodes[i].step.kind == MAPI_OFFLOAD_FILTER && refused.contains(code_of(nodes[i])))
            refuse(nodes[i], kRefusedFilter);
    }
    while (true) {
        ProgramTree tree(nodes, wants_all);
        const std::vector<mapi_offload_node *> filters = filters_of(nodes);
        if (tree.verdict_words() > kVerdictWordsMax) {
            leave_out_half(filters);
            continue;
        }
        SharedArray counts = make_counts(tree, setup.ring.cpus);
        auto tables = make_tables(tree);
        Loaded loaded = {std::move(tree), setup.number, setup.ring.cpus, std::move(counts),
                         std::move(tables)};
        try {
            loaded.program = load(loaded.tree, setup, loaded.counts.descriptor(),
                                  loaded.tables ? loaded.tables->descriptor() : -1);
        } catch (const match::FilterError &) { // too long
            leave_out_half(filters);
            continue;
        } catch (const KernelRefusal &) {
            if (filters.empty())
                throw;
            leave_out_refused(filters, setup, refused);
            continue;
        }
        loaded.wanting.resize(size_t{64} * loaded.tree.verdict_words());
        for (uint32_t node = 0; node < nodes.size(); ++node) {
            if (nodes[node].is_taken && nodes[node].wants_packets)
                loaded.wanting[loaded.tree.verdict_of(loaded.tree.place_of(node))].push_back(node);
        }
        return std::unique_ptr<Program>(
            new Program(std::make_shared<const Loaded>(std::move(loaded)), nodes.size()));
    }
}

std::unique_ptr<Program> Program::make_spare(const Program &loaded,
                                             std::span<mapi_offload_node> nodes, const char *reason)
{
    for (mapi_offload_node &node : nodes)
        refuse(node, reason);
    return std::unique_ptr<Program>(new Program(loaded.loaded_, nodes.size()));
}

mapi_offload_count Program::Loaded::count(uint32_t place) const
{
    mapi_offload_count sum = {};
    for (uint32_t cpu = 0; cpu < cpus; ++cpu) {
        const uint64_t *words =
            counts.words().data() + size_t{cpu} * tree.count_words() + tree.count_word(place);
        sum.packets += __atomic_load_n(words, __ATOMIC_RELAXED);
        sum.wire_bytes += __atomic_load_n(words + 1, __ATOMIC_RELAXED);
    }
    return sum;
}

void Program::count(mapi_offload_count *counts) const
{
    const auto nodes = loaded_->tree.nodes();
    for (uint32_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].is_taken)
            counts[i] = loaded_->count(loaded_->tree.place_of(i));
    }
    const mapi_offload_count now = all();
    counts[nodes_] = {now.packets - before_.packets, now.wire_bytes - before_.wire_bytes};
}

void Program::add_verdicts(const uint64_t *words, uint64_t bit, uint64_t *passed) const
{
    for (uint32_t word = 0; word < loaded_->tree.verdict_words(); ++word) {
        for (uint64_t rest = words[word]; rest != 0; rest &= rest - 1) {
            for (const uint32_t node :
                 loaded_->wanting[64 * word + uint32_t(std::countr_zero(rest))])
                passed[node] |= bit;
        }
    }
}
} // namespace mapi::drivers::xdp
