// SPDX-License-Identifier: MIT
// Tests that filters imply -> groups of filters, by the folded value of a field.
#include "drivers/xdp/filter_index.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "match/bpf/index/bpf_choice.hpp"

namespace mapi::drivers::xdp
{
namespace
{
using match::PacketField;
using Group = std::vector<uint32_t>;                             // programs, in order
using Tables = std::map<PacketField, std::map<uint16_t, Group>>; // by folded value

uint16_t fold(uint32_t value)
{
    return uint16_t(value ^ value >> 16);
}

std::vector<bpf_insn> make_loader(const PacketField &field)
{
    const auto size = u_short(field.bytes == 1 ? BPF_B : field.bytes == 2 ? BPF_H : BPF_W);
    std::vector<bpf_insn> loader;
    if (field.header == PacketField::kNoHeader) {
        loader.push_back({u_short(BPF_LD | BPF_ABS | size), 0, 0, field.offset});
    } else {
        loader.push_back({BPF_LDX | BPF_MSH | BPF_B, 0, 0, field.header});
        loader.push_back({u_short(BPF_LD | BPF_IND | size), 0, 0, field.offset});
    }
    loader.push_back({BPF_ALU | BPF_AND | BPF_K, 0, 0, field.mask});
    loader.push_back({BPF_MISC | BPF_TAX, 0, 0, 0});
    loader.push_back({BPF_ALU | BPF_RSH | BPF_K, 0, 0, 16});
    loader.push_back({BPF_ALU | BPF_XOR | BPF_X, 0, 0, 0});
    loader.push_back({BPF_ALU | BPF_AND | BPF_K, 0, 0, 0xffff});
    loader.push_back({BPF_RET | BPF_A, 0, 0, 0});
    return loader;
}

Tables make_tables(const std::vector<std::vector<match::ImpliedTest>> &tests,
                   const std::set<uint32_t> &left_out)
{
    Tables tables;
    for (uint32_t program = 0; program < tests.size(); ++program) {
        if (left_out.contains(program))
            continue;
        for (const match::ImpliedTest &implied : tests[program]) {
            Group &group = tables[implied.test.field][fold(implied.test.value)];
            if (group.empty() || group.back() != program)
                group.push_back(program);
        }
    }
    return tables;
}

// Programs that are in different groups: a packet could be found by both, and counted twice.
std::set<uint32_t> find_ambiguous(const Tables &tables)
{
    std::map<uint32_t, const Group *> group_of;
    std::set<uint32_t> ambiguous;
    for (const auto &[field, groups] : tables) {
        for (const auto &[value, group] : groups) {
            for (const uint32_t program : group) {
                const auto [known, is_new] = group_of.try_emplace(program, &group);
                if (!is_new && *known->second != group)
                    ambiguous.insert(program);
            }
        }
    }
    return ambiguous;
}

// Programs of the field with the fewest.
std::set<uint32_t> find_least_used(const Tables &tables)
{
    std::set<uint32_t> least;
    for (const auto &[field, groups] : tables) {
        std::set<uint32_t> programs;
        for (const auto &[value, group] : groups)
            programs.insert(group.begin(), group.end());
        if (least.empty() || programs.size() < least.size())
            least = programs;
    }
    return least;
}

// A loader cannot tell 0 from a field that is not in the packet.
std::set<uint32_t> find_zero(const std::vector<std::vector<match::ImpliedTest>> &tests)
{
    std::set<uint32_t> found;
    for (uint32_t program = 0; program < tests.size(); ++program) {
        for (const match::ImpliedTest &implied : tests[program]) {
            if (fold(implied.test.value) == 0)
                found.insert(program);
        }
    }
    return found;
}
} // namespace

std::unique_ptr<const FilterIndex> FilterIndex::make(std::span<const mapi_offload_node> nodes,
                                                     const std::vector<uint32_t> &filters)
{
    std::vector<match::BpfSteps> programs;
    for (const uint32_t node : filters)
        programs.emplace_back(reinterpret_cast<const bpf_insn *>(nodes[node].step.code),
                              nodes[node].step.code_count);
    const match::BpfChoice choice = match::choose_tests(programs);
    std::set<uint32_t> left_out = find_zero(choice.tests);
    left_out.insert(choice.always.begin(), choice.always.end());
    Tables tables = make_tables(choice.tests, left_out);
    const auto leave_out = [&](const std::set<uint32_t> &more) {
        left_out.insert(more.begin(), more.end());
        tables = make_tables(choice.tests, left_out);
    };
    // Groups that are left are as before: one round is enough.
    leave_out(find_ambiguous(tables));
    while (tables.size() > kFieldsMax)
        leave_out(find_least_used(tables));
    if (programs.size() - left_out.size() < kFewest)
        return nullptr;

    auto index = std::make_unique<FilterIndex>();
    std::map<Group, uint16_t> numbers;
    for (const auto &[field, groups] : tables) {
        index->fields_.push_back({make_loader(field), {}});
        for (const auto &[value, group] : groups) {
            const auto [number, is_new] = numbers.try_emplace(group, index->groups_.size());
            index->fields_.back().entries.emplace_back(value, number->second);
            if (!is_new)
                continue;
            index->groups_.emplace_back();
            for (const uint32_t program : group)
                index->groups_.back().push_back(filters[program]);
        }
    }
    for (const uint32_t program : left_out)
        index->always_.push_back(filters[program]);
    return index;
}

void FilterIndex::fill(size_t field, std::span<uint16_t> table) const
{
    for (const auto &[value, number] : fields_[field].entries)
        table[value] = number;
}
} // namespace mapi::drivers::xdp
