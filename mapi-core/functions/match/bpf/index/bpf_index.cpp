// SPDX-License-Identifier: MIT
// Chosen tests -> tables by field and value; then the lookup.
#include "bpf_index.hpp"

#include <algorithm>
#include <bit>
#include <map>

#include "bpf_choice.hpp"

namespace mapi::match
{
namespace
{
// Whether no packet can pass both.
bool exclude(const std::optional<FieldTest> &one, const std::optional<FieldTest> &other)
{
    return one && other && one->field == other->field && one->value != other->value;
}
} // namespace

std::unique_ptr<BpfIndex> BpfIndex::make(const std::vector<BpfSteps> &programs)
{
    BpfChoice choice = choose_tests(programs);
    if (choice.tests.empty())
        return nullptr;
    return std::unique_ptr<BpfIndex>(new BpfIndex(choice.tests, std::move(choice.always)));
}

BpfIndex::BpfIndex(const Tests &tests, std::vector<uint32_t> always)
    : always_(std::move(always)), place_of_(tests.size()), last_call_(tests.size())
{
    struct Uses {
        std::map<uint32_t, std::vector<uint32_t>> programs; // per value
        std::optional<std::vector<FieldTest>> guards;       // before every use
    };
    std::map<PacketField, Uses> fields;
    for (uint32_t program = 0; program < tests.size(); ++program) {
        for (const ImpliedTest &implied : tests[program]) {
            Uses &uses = fields[implied.test.field];
            uses.programs[implied.test.value].push_back(program);
            if (!uses.guards)
                uses.guards = implied.guards;
            std::erase_if(*uses.guards, [&](const FieldTest &guard) {
                return !std::binary_search(implied.guards.begin(), implied.guards.end(), guard);
            });
        }
    }
    for (const auto &[field, uses] : fields) {
        Base wanted{field.header, std::nullopt, {}};
        if (!uses.guards->empty())
            wanted.guard = uses.guards->front(); // for the outermost header
        const auto is_wanted = [&](const Base &base) {
            return base.header == wanted.header && base.guard == wanted.guard;
        };
        auto base = std::find_if(bases_.begin(), bases_.end(), is_wanted);
        if (base == bases_.end())
            base = bases_.insert(base, std::move(wanted));
        base->tables.emplace_back(field, uses.programs);
    }
    for (uint32_t i = 0; i < bases_.size(); ++i) {
        for (uint32_t before = 0; before < i; ++before) {
            if (exclude(bases_[before].guard, bases_[i].guard))
                bases_[i].excluded_by.push_back(before);
        }
    }
    passed_.resize(bases_.size());
    candidates_.reserve(tests.size());
}

std::span<const BpfCandidates> BpfIndex::find(const mapi_packet *packets, uint64_t mask)
{
    candidates_.clear();
    ++call_;
    for (const uint32_t program : always_)
        candidates_.push_back({mask, program});
    for (size_t i = 0; i < bases_.size(); ++i) {
        Starts starts;
        passed_[i] =
            gather(bases_[i], packets, not_excluded(bases_[i], mask, passed_.data()), starts);
        for (const FieldTable &table : bases_[i].tables)
            find_by(table, starts);
    }
    return candidates_;
}

uint64_t BpfIndex::may_accept(const mapi_packet *packets, uint64_t mask) const
{
    uint64_t passed[kBasesMost], accepted = 0;
    if (!always_.empty() || bases_.size() > kBasesMost)
        return mask;
    for (size_t i = 0; i < bases_.size(); ++i) {
        Starts starts;
        passed[i] = gather(bases_[i], packets, not_excluded(bases_[i], mask, passed), starts);
        for (const FieldTable &table : bases_[i].tables) {
            for (uint64_t found = table.find_packets(starts.places, starts.count); found != 0;
                 found &= found - 1)
                accepted |= uint64_t{1} << starts.numbers[std::countr_zero(found)];
        }
    }
    return accepted;
}

// passed: per base, so far.
uint64_t BpfIndex::not_excluded(const Base &base, uint64_t mask, const uint64_t *passed)
{
    for (const uint32_t before : base.excluded_by)
        mask &= ~passed[before];
    return mask;
}

// Returns the packets that pass the base's test.
uint64_t BpfIndex::gather(const Base &base, const mapi_packet *packets, uint64_t mask,
                          Starts &starts)
{
    const PacketField field = base.tables.front().field();
    if (!base.guard) {
        starts.fill(field, packets, mask, [](const mapi_packet &) { return true; });
        return mask;
    }
    const FieldTest guard = *base.guard;
    if (guard.field.header == PacketField::kNoHeader &&
        guard.field.bytes == 2) // EtherType, as in nearly all cases
        return starts.fill(field, packets, mask, [&](const mapi_packet &packet) {
            return packet.caplen >= guard.field.end() &&
                   guard.field.value_of<2>(packet.data + guard.field.offset) == guard.value;
        });
    return starts.fill(field, packets, mask,
                       [&](const mapi_packet &packet) { return guard.passes(packet); });
}

void BpfIndex::find_by(const FieldTable &table, const Starts &starts)
{
    for (uint64_t found = table.find_packets(starts.places, starts.count); found != 0;
         found &= found - 1) {
        const int i = std::countr_zero(found);
        add_hits(table.find(starts.places[i]), uint64_t{1} << starts.numbers[i]);
    }
}

void BpfIndex::add_hits(std::span<const uint32_t> programs, uint64_t packet)
{
    for (const uint32_t program : programs) {
        if (last_call_[program] == call_) {
            candidates_[place_of_[program]].mask |= packet;
            continue;
        }
        last_call_[program] = call_;
        place_of_[program] = uint32_t(candidates_.size());
        candidates_.push_back({packet, program});
    }
}
} // namespace mapi::match
