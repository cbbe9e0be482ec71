// SPDX-License-Identifier: MIT
// Tracks which registers hold a field of the packet at each step; then computes a minimum cut
// between entry and acceptance.
#include "bpf_tests.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "min_cut.hpp"

namespace mapi::match
{
namespace
{
constexpr uint32_t kLargestOffset =
    0x7fffffff; // larger ones are libpcap's extensions (VLAN tag, protocol)

// What is known about a register.
struct Value {
    enum class Kind { kUnknown, kConstant, kField, kHeaderBytes };

    Kind kind = Kind::kUnknown;
    uint32_t number = 0; // a constant, or the position of the header's length
    PacketField field = {};

    bool operator==(const Value &) const = default;
};

// Accumulator, X and scratch words.
struct Registers {
    Value a = {Value::Kind::kConstant};
    Value x = {Value::Kind::kConstant};
    std::array<Value, BPF_MEMWORDS> words = {};

    bool operator==(const Registers &) const = default;
};

void merge(Value &into, const Value &from)
{
    if (into != from)
        into = {};
}

bool merge(std::optional<Registers> &into, const Registers &from)
{
    if (!into) {
        into = from;
        return true;
    }
    const Registers before = *into;
    merge(into->a, from.a);
    merge(into->x, from.x);
    for (size_t i = 0; i < from.words.size(); ++i)
        merge(into->words[i], from.words[i]);
    return *into != before;
}

Value packet_load(const bpf_insn &step, const Value &x)
{
    const uint32_t bytes = load_bytes(step.code);
    PacketField field{step.k, PacketField::kNoHeader, uint32_t(~uint64_t{0} >> (64 - 8 * bytes)),
                      bytes};
    if (step.k > kLargestOffset)
        return {};
    if (BPF_MODE(step.code) == BPF_IND) {
        if (x.kind == Value::Kind::kHeaderBytes)
            field.header = x.number;
        else if (x.kind == Value::Kind::kConstant && x.number <= kLargestOffset)
            field.offset += x.number;
        else
            return {};
    }
    return {Value::Kind::kField, 0, field};
}

// The field that the step loads; for a header's length the byte that has it.
std::optional<PacketField> loaded_field(const bpf_insn &step, const Value &x)
{
    if (is_header_length_load(step.code) && step.k <= kLargestOffset)
        return PacketField{step.k, PacketField::kNoHeader, 0xff, 1};
    if (!is_packet_load(step.code))
        return std::nullopt;
    const Value value = packet_load(step, x);
    return value.kind == Value::Kind::kField ? std::optional(value.field) : std::nullopt;
}

Value load(const bpf_insn &step, const Registers &now)
{
    switch (BPF_MODE(step.code)) {
    case BPF_IMM: return {Value::Kind::kConstant, step.k};
    case BPF_MEM: return now.words[step.k];
    case BPF_MSH:
        return step.k <= kLargestOffset ? Value{Value::Kind::kHeaderBytes, step.k} : Value{};
    case BPF_ABS:
    case BPF_IND: return packet_load(step, now.x);
    default: return {};
    }
}

void run(const bpf_insn &step, Registers &now)
{
    switch (BPF_CLASS(step.code)) {
    case BPF_LD: now.a = load(step, now); break;
    case BPF_LDX: now.x = load(step, now); break;
    case BPF_ST: now.words[step.k] = now.a; break;
    case BPF_STX: now.words[step.k] = now.x; break;
    case BPF_ALU:
        if (step.code == (BPF_ALU | BPF_AND | BPF_K) && now.a.kind == Value::Kind::kField)
            now.a.field.mask &= step.k;
        else
            now.a = {};
        break;
    case BPF_MISC:
        if (step.code == (BPF_MISC | BPF_TAX))
            now.x = now.a;
        else
            now.a = now.x;
        break;
    default: break;
    }
}

// The registers before each step; none if the step is unreachable.
std::vector<std::optional<Registers>> find_registers(BpfSteps steps)
{
    std::vector<std::optional<Registers>> before(steps.size());
    before[0] = Registers{};
    for (bool changed = true; changed;) { // a second round only for backward jumps
        changed = false;
        for (size_t at = 0; at < steps.size(); ++at) {
            if (!before[at])
                continue;
            Registers now = *before[at];
            run(steps[at], now);
            for (const size_t next : successors(steps, at))
                changed |= merge(before[next], now) && next <= at;
        }
    }
    return before;
}
using TestOfStep = std::vector<std::optional<FieldTest>>;

// Only programs longer than any real expression would have more of them.
constexpr size_t kMostGuards = 16;

std::vector<FieldTest> common(const std::vector<FieldTest> &a, const std::vector<FieldTest> &b)
{
    std::vector<FieldTest> both;
    std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(both));
    return both;
}

// Tests that every path to each step has passed.
std::vector<std::vector<FieldTest>> find_guards(BpfSteps steps, const TestOfStep &tests)
{
    std::vector<std::optional<std::vector<FieldTest>>> passed(steps.size());
    passed[0].emplace();
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t at = 0; at < steps.size(); ++at) {
            if (!passed[at])
                continue;
            const Successors to = successors(steps, at);
            for (int i = 0; i < to.count; ++i) {
                std::vector<FieldTest> now = *passed[at];
                const size_t next = to.index[i];
                if (i == 0 && tests[at] && now.size() < kMostGuards && to.index[0] != to.index[1])
                    now.insert(std::lower_bound(now.begin(), now.end(), *tests[at]), *tests[at]);
                if (passed[next])
                    now = common(*passed[next], now);
                changed |= next <= at && passed[next] != now;
                passed[next] = std::move(now);
            }
        }
    }
    std::vector<std::vector<FieldTest>> guards;
    for (auto &of_step : passed)
        guards.push_back(of_step ? std::move(*of_step) : std::vector<FieldTest>());
    return guards;
}

// Of the packet.
bool is_load(uint16_t code)
{
    return (BPF_CLASS(code) == BPF_LD || BPF_CLASS(code) == BPF_LDX) && BPF_MODE(code) != BPF_IMM &&
           BPF_MODE(code) != BPF_MEM;
}

} // namespace

BpfTests::BpfTests(BpfSteps steps) : steps_(steps), tests_(steps.size())
{
    if (steps.size() > kLongestProgram)
        return;
    const std::vector<std::optional<Registers>> registers = find_registers(steps);
    for (size_t at = 0; at < steps.size(); ++at) {
        if (steps[at].code == (BPF_JMP | BPF_JEQ | BPF_K) && registers[at] &&
            registers[at]->a.kind == Value::Kind::kField)
            tests_[at] = FieldTest{registers[at]->a.field, steps[at].k};
    }
    guards_ = find_guards(steps, tests_);
    loads_.emplace(steps.size());
    for (size_t at = 0; at < steps.size() && loads_; ++at) {
        if (!registers[at] || !is_load(steps[at].code))
            continue;
        if (const auto field = loaded_field(steps[at], registers[at]->x))
            loads_->at(at) = Load{*field, guards_[at]};
        else
            loads_.reset();
    }
}

std::vector<FieldTest> BpfTests::all() const
{
    std::vector<FieldTest> all;
    for (const auto &test : tests_) {
        if (test)
            all.push_back(*test);
    }
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return all;
}

std::optional<std::vector<ImpliedTest>>
BpfTests::imply(const std::function<uint64_t(const FieldTest &)> &cost) const
{
    const size_t sink = steps_.size();
    MinCut graph(steps_.size() + 1);
    std::vector<size_t> step_of; // by edge number
    const auto add = [&](size_t from, size_t to, uint64_t capacity) {
        graph.add_edge(from, to, capacity);
        step_of.push_back(from);
    };
    for (size_t at = 0; at < steps_.size(); ++at) {
        if (is_return(steps_[at].code) &&
            (steps_[at].code != (BPF_RET | BPF_K) || steps_[at].k != 0))
            add(at, sink, MinCut::kUncuttable);
        const Successors to = successors(steps_, at);
        for (int i = 0; i < to.count; ++i)
            add(at, to.index[i], i == 0 && tests_[at] ? cost(*tests_[at]) : MinCut::kUncuttable);
    }
    std::vector<size_t> cut;
    if (!graph.find(0, sink, cut))
        return std::nullopt;
    std::map<FieldTest, std::vector<FieldTest>> guards_of;
    for (const size_t edge : cut) {
        const size_t step = step_of[edge];
        const auto [entry, is_new] = guards_of.try_emplace(*tests_[step], guards_[step]);
        if (!is_new)
            entry->second = common(entry->second, guards_[step]);
    }
    std::vector<ImpliedTest> implied;
    for (const auto &[test, guards] : guards_of)
        implied.push_back({test, guards});
    return implied;
}
} // namespace mapi::match
