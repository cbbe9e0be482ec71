// SPDX-License-Identifier: MIT
// Nodes -> the largest program of them that the kernel accepts.
#include "drivers/xdp/program.hpp"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <functional>
#include <numeric>
#include <stdexcept>

#include "drivers/xdp/clocks.hpp"
#include "drivers/xdp/node_kind.hpp"
#include "match/bpf/native/bpf_emit_ebpf.hpp"
#include "match/errors.hpp"

namespace mapi::drivers::xdp
{
namespace
{
constexpr uint32_t kEmittedMax = 1024; // counts are addressed by 16-bit offsets
constexpr char kRefused[] = "the kernel's verifier refuses it";

bool can_run(const mapi_offload_step &step)
{
    static_assert(sizeof(bpf_insn) == sizeof(mapi_filter_code));
    return step.kind == MAPI_OFFLOAD_COUNT || step.kind == MAPI_OFFLOAD_SEARCH ||
           step.kind == MAPI_OFFLOAD_FLOW_HASH || step.kind == MAPI_OFFLOAD_SAMPLE ||
           step.kind == MAPI_OFFLOAD_LAST ||
           (step.kind == MAPI_OFFLOAD_FILTER &&
            match::can_emit_ebpf({reinterpret_cast<const bpf_insn *>(step.code), step.code_count}));
}

void refuse(mapi_offload_node &node, const char *reason)
{
    node.is_taken = 0;
    node.reason = reason;
}

// What the kernel is asked to accept: only that of a filter depends on more than its kind.
std::string code_of(const mapi_offload_node &node)
{
    std::string code = std::to_string(node.step.kind);
    if (node.step.kind == MAPI_OFFLOAD_FILTER)
        code.append(reinterpret_cast<const char *>(node.step.code),
                    node.step.code_count * sizeof(mapi_filter_code));
    return code;
}

int descriptor_of(const std::unique_ptr<SharedArray> &map)
{
    return map ? map->descriptor() : -1;
}

bool has_filters(std::span<const mapi_offload_node> nodes)
{
    return std::any_of(nodes.begin(), nodes.end(), [](const mapi_offload_node &node) {
        return node.is_taken && node.step.kind == MAPI_OFFLOAD_FILTER;
    });
}

ipc::Descriptor load_for(Direction direction, const ProgramTree &tree, ProgramSetup setup)
{
    setup.direction = direction;
    if (direction == Direction::kOutgoing) // other nodes read bytes through the context
        setup.takes_fragments = has_filters(tree.nodes());
    match::EbpfCode code;
    emit_program(tree, setup, code);
    code.finish();
    return direction == Direction::kOutgoing
               ? load_egress_program(kProgramName, code)
               : load_xdp_program(kProgramName, code, setup.takes_fragments);
}

LoadedPrograms load(const ProgramTree &tree, ProgramSetup setup, const ProgramMaps &maps)
{
    setup.counts = maps.counts.descriptor();
    setup.tables = descriptor_of(maps.tables);
    setup.searches = descriptor_of(maps.searches);
    LoadedPrograms programs = {load_for(Direction::kIncoming, tree, setup), {}};
    if (setup.ring.has_outgoing)
        programs.outgoing = load_for(Direction::kOutgoing, tree, setup);
    return programs;
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

std::unique_ptr<SharedArray> make_searches(const ProgramTree &tree)
{
    if (!tree.searches())
        return nullptr;
    auto searches = std::make_unique<SharedArray>("mapi_searches", tree.searches()->bytes());
    tree.searches()->write(
        {reinterpret_cast<uint8_t *>(searches->words().data()), tree.searches()->bytes()});
    return searches;
}

ProgramMaps make_maps(const ProgramTree &tree, uint32_t cpus)
{
    return {{"mapi_counts", size_t{8} * cpus * tree.count_words()},
            make_tables(tree),
            make_searches(tree)};
}

// Whether the kernel accepts a program of this node alone, as it does with others.
bool is_accepted(const mapi_offload_node &node, const ProgramSetup &setup)
{
    if (node.step.kind == MAPI_OFFLOAD_SAMPLE || node.step.kind == MAPI_OFFLOAD_LAST)
        return true;
    mapi_offload_node alone = node;
    alone.source = MAPI_OFFLOAD_ALL;
    alone.is_taken = 1;
    const ProgramTree tree({&alone, 1}, 0);
    try {
        load(tree, setup, make_maps(tree, setup.ring.cpus));
        return true;
    } catch (const KernelRefusal &refusal) {
        const int number = refusal.number();
        if (number != EINVAL && number != EACCES && number != E2BIG &&
            number != EFAULT) // not the verifier's
            throw;
        return false;
    }
}

using Nodes = std::vector<mapi_offload_node *>;

// Whether it has code and counts of its own.
bool is_emitted(const mapi_offload_node &node)
{
    return node.step.kind != MAPI_OFFLOAD_COUNT;
}

Nodes emitted_of(std::span<mapi_offload_node> nodes)
{
    Nodes emitted;
    for (mapi_offload_node &node : nodes) {
        if (node.is_taken && is_emitted(node))
            emitted.push_back(&node);
    }
    return emitted;
}

void leave_out_half(const Nodes &nodes)
{
    for (size_t i = nodes.size() / 2; i < nodes.size(); ++i)
        refuse(*nodes[i], "a program for the kernel cannot have so many functions");
}

size_t text_bytes(const mapi_offload_node &node)
{
    const std::span texts(node.step.search->texts, node.step.search->text_count);
    return std::accumulate(
        texts.begin(), texts.end(), size_t{0},
        [](size_t sum, const mapi_search_text &text) { return sum + text.count; });
}

// An eighth of them, so that small ones stay.
void leave_out_largest_searches(Nodes nodes)
{
    std::erase_if(nodes, [](const mapi_offload_node *node) {
        return node->step.kind != MAPI_OFFLOAD_SEARCH;
    });
    std::ranges::stable_sort(nodes, std::greater(),
                             [](const mapi_offload_node *node) { return text_bytes(*node); });
    for (size_t i = 0; i < (nodes.size() + 7) / 8; ++i)
        refuse(*nodes[i], "the texts of all searches need too large a table");
}

// After a refusal: leaves out what is refused alone, or else the second half.
void leave_out_refused(const Nodes &nodes, const ProgramSetup &setup, KnownCode &known)
{
    bool has_refused = false;
    for (mapi_offload_node *node : nodes) {
        const std::string code = code_of(*node);
        auto entry = known.find(code);
        if (entry == known.end())
            entry = known.emplace(code, is_accepted(*node, setup)).first;
        if (entry->second)
            continue;
        refuse(*node, kRefused);
        has_refused = true;
    }
    if (!has_refused)
        leave_out_half(nodes);
}

// A function whose packets the kernel may leave to the engine is a source of this node.
bool may_miss_packets(std::span<const mapi_offload_node> nodes, const mapi_offload_node &node)
{
    for (uint32_t source = node.source; source != MAPI_OFFLOAD_ALL; source = nodes[source].source) {
        if (!always_decides(nodes[source].step))
            return true;
    }
    return false;
}

bool is_refused(const KnownCode &known, const mapi_offload_node &node)
{
    const auto entry = known.find(code_of(node));
    return entry != known.end() && !entry->second;
}

// Of periodic samples; those without a slot are left to the engine.
std::vector<StateSlots::Lease> lease_slots(std::span<mapi_offload_node> nodes, StateSlots *states)
{
    std::vector<StateSlots::Lease> leases(nodes.size());
    for (size_t i = 0; i < nodes.size(); ++i) {
        const bool is_counting =
            nodes[i].step.kind == MAPI_OFFLOAD_SAMPLE && nodes[i].step.period > 0;
        if (!nodes[i].is_taken || !is_counting)
            continue;
        leases[i] = states ? states->lease(nodes[i].state) : nullptr;
        if (!leases[i])
            refuse(nodes[i], "the driver has as many samples as it can have");
    }
    return leases;
}
} // namespace

std::unique_ptr<Program> Program::make(std::span<mapi_offload_node> nodes, uint32_t all_bytes,
                                       ProgramSetup setup, KnownCode &known)
{
    uint32_t emitted_nodes = 0;
    for (mapi_offload_node &node : nodes) {
        node.is_taken = 1;
        if (!can_run(node.step))
            refuse(node, "eBPF has no such instruction");
        else if (is_refused(known, node))
            refuse(node, kRefused);
        else if (needs_each_packet(node.step) && may_miss_packets(nodes, node))
            refuse(node, "the kernel may leave packets before it to the engine");
        else if (setup.snaplen < kSnaplenMax && node.step.kind == MAPI_OFFLOAD_FILTER &&
                 may_miss_packets(nodes, node))
            refuse(node, "the kernel may leave packets before it to the engine, which has only "
                         "their first bytes (snaplen)");
        else if (is_emitted(node) && ++emitted_nodes > kEmittedMax)
            refuse(node, "the program has as many functions as it can have");
    }
    std::vector<StateSlots::Lease> leases = lease_slots(nodes, setup.states);
    setup.leases = leases;
    while (true) {
        const Nodes emitted = emitted_of(nodes);
        try {
            ProgramTree tree(nodes, all_bytes);
            if (tree.verdict_words() > kVerdictWordsMax) {
                leave_out_half(emitted);
                continue;
            }
            ProgramMaps maps = make_maps(tree, setup.ring.cpus);
            LoadedPrograms programs = load(tree, setup, maps);
            return std::unique_ptr<Program>(
                new Program(std::make_shared<const Loaded>(std::move(tree), setup, std::move(maps),
                                                           std::move(programs), std::move(leases)),
                            nodes.size()));
        } catch (const std::length_error &) {
            leave_out_largest_searches(emitted);
        } catch (const match::FilterError &) { // too long
            leave_out_half(emitted);
        } catch (const KernelRefusal &) {
            if (emitted.empty())
                throw;
            leave_out_refused(emitted, setup, known);
        }
    }
}

// By verdict: the nodes that want packets, and those that are not decided.
Program::Loaded::Loaded(ProgramTree its_tree, const ProgramSetup &setup, ProgramMaps its_maps,
                        LoadedPrograms its_programs, std::vector<StateSlots::Lease> its_leases)
    : tree(std::move(its_tree)), number(setup.number), cpus(setup.ring.cpus),
      maps(std::move(its_maps)), programs(std::move(its_programs)),
      verdicts(size_t{64} * tree.verdict_words()), leases(std::move(its_leases))
{
    const auto nodes = tree.nodes();
    for (uint32_t node = 0; node < nodes.size(); ++node) {
        if (nodes[node].is_taken && nodes[node].wants_packets)
            verdicts[tree.verdict_of(tree.place_of(node))].wanting.push_back(node);
    }
    for (uint32_t place = 0; place <= tree.last_place(); ++place) {
        const ProgramTree::Searches &searches = tree.searches_at(place);
        if (!searches.nodes.empty())
            verdicts[searches.undecided].undecided = searches.nodes;
        const ProgramTree::Hashes &hashes = tree.hashes_at(place);
        if (!hashes.nodes.empty())
            verdicts[hashes.undecided].undecided = hashes.nodes;
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
            maps.counts.words().data() + size_t{cpu} * tree.count_words() + tree.count_word(place);
        sum.packets += __atomic_load_n(words, __ATOMIC_RELAXED);
        sum.wire_bytes += __atomic_load_n(words + 1, __ATOMIC_RELAXED);
    }
    return sum;
}

// Of all CPUs.  The words are read one by one: the length may be that of a later packet, and is
// then read again with its time.
LastPacket Program::Loaded::last(uint32_t place) const
{
    LastPacket last = {};
    for (uint32_t cpu = 0; cpu < cpus; ++cpu) {
        const uint64_t *words =
            maps.counts.words().data() + size_t{cpu} * tree.count_words() + tree.last_word(place);
        const uint64_t time_ns = __atomic_load_n(words, __ATOMIC_ACQUIRE);
        if (time_ns > last.monotonic_ns)
            last = {time_ns, __atomic_load_n(words + 1, __ATOMIC_RELAXED)};
    }
    return last;
}

mapi_offload_state Program::state_of(uint32_t node) const
{
    const ProgramTree &tree = loaded_->tree;
    mapi_offload_state state = {};
    if (const StateSlots::Lease &lease = loaded_->leases[node])
        state.received = lease->value();
    if (tree.nodes()[node].step.kind != MAPI_OFFLOAD_LAST)
        return state;
    const LastPacket now = loaded_->last(tree.place_of(node));
    LastPacket &known = converted_[tree.place_of(node)];
    if (now.monotonic_ns != known.monotonic_ns)
        known.real_ns = now.monotonic_ns + monotonic_to_real_ns();
    known.monotonic_ns = now.monotonic_ns;
    state.last_time_ns = known.real_ns;
    state.last_wire_bytes = now.wire_bytes;
    return state;
}

void Program::count(mapi_offload_count *counts) const
{
    const auto nodes = loaded_->tree.nodes();
    for (uint32_t i = 0; i < nodes.size(); ++i) {
        if (!nodes[i].is_taken)
            continue;
        counts[i] = loaded_->count(loaded_->tree.place_of(i));
        counts[i].state = state_of(i);
    }
    const mapi_offload_count now = all();
    counts[nodes_] = {now.packets - before_.packets, now.wire_bytes - before_.wire_bytes, {}};
}

bool Program::add_verdicts(const uint64_t *words, uint64_t bit, uint64_t *passed,
                           uint64_t *undecided) const
{
    bool are_decided = true;
    for (uint32_t word = 0; word < loaded_->tree.verdict_words(); ++word) {
        for (uint64_t rest = words[word]; rest != 0; rest &= rest - 1) {
            const Verdict &verdict =
                loaded_->verdicts[64 * word + uint32_t(std::countr_zero(rest))];
            for (const uint32_t node : verdict.wanting)
                passed[node] |= bit;
            for (const uint32_t node : verdict.undecided)
                undecided[node] |= bit;
            are_decided &= verdict.undecided.empty();
        }
    }
    return are_decided;
}
} // namespace mapi::drivers::xdp
