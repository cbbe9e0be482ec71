// SPDX-License-Identifier: MIT
// Which programs are worth an index, by which tests; then the look-up.
#include "bpf_index.hpp"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>

#include "bpf_tests.hpp"

namespace mapi::match
{
namespace
{
// A field costs each packet about as much as this many programs do.
constexpr size_t kFewestOfField = 4;
constexpr size_t kFewestOfIndex = 8;
// A test that one in so many programs has, such as that for IPv4, would find too many of them.
constexpr size_t kMostShared = 8;

using Chosen = std::vector<std::optional<std::vector<ImpliedTest>>>; // of each program; none: always a candidate

// Those that tell the program from the others: of ways to cut it off, the one whose tests the fewest programs have.
Chosen choose_tests(const std::vector<BpfSteps> &programs)
{
    std::vector<BpfTests> analysed;
    std::map<FieldTest, uint64_t> programs_with;
    for (const BpfSteps &program : programs) {
        analysed.emplace_back(program);
        for (const FieldTest &test : analysed.back().all())
            ++programs_with[test];
    }
    const uint64_t limit = programs.size() / kMostShared;
    Chosen tests;
    for (const BpfTests &program : analysed) {
        tests.push_back(program.imply([&](const FieldTest &test) { return programs_with.at(test); }));
        for (const ImpliedTest &implied : tests.back().value_or(std::vector<ImpliedTest>())) {
            if (programs_with.at(implied.test) > limit) {
                tests.back().reset();
                break;
            }
        }
    }
    return tests;
}

// Fields that few programs ask for are not worth it; without them other fields may have too few.
void drop_rare_fields(Chosen &tests)
{
    for (bool changed = true; changed;) {
        changed = false;
        std::map<PacketField, size_t> uses;
        for (const auto &of_program : tests) {
            for (const ImpliedTest &implied : of_program.value_or(std::vector<ImpliedTest>()))
                ++uses[implied.test.field];
        }
        for (auto &of_program : tests) {
            for (const ImpliedTest &implied : of_program.value_or(std::vector<ImpliedTest>())) {
                if (uses[implied.test.field] >= kFewestOfField)
                    continue;
                of_program.reset();
                changed = true;
                break;
            }
        }
    }
}
} // namespace

std::unique_ptr<BpfIndex> BpfIndex::make(const std::vector<BpfSteps> &programs)
{
    Chosen chosen = choose_tests(programs);
    drop_rare_fields(chosen);
    Tests tests(programs.size());
    std::vector<uint32_t> always;
    for (uint32_t i = 0; i < programs.size(); ++i) {
        if (chosen[i])
            tests[i] = std::move(*chosen[i]);
        else
            always.push_back(i);
    }
    if (programs.size() < always.size() + kFewestOfIndex)
        return nullptr;
    return std::unique_ptr<BpfIndex>(new BpfIndex(tests, std::move(always)));
}

BpfIndex::BpfIndex(const Tests &tests, std::vector<uint32_t> always) : always_(std::move(always)), place_of_(tests.size()), last_call_(tests.size())
{
    struct Uses {
        std::map<uint32_t, std::vector<uint32_t>> programs; // of each value
        std::optional<std::vector<FieldTest>> guards; // before every use
    };
    std::map<PacketField, Uses> fields;
    for (uint32_t program = 0; program < tests.size(); ++program) {
        for (const ImpliedTest &implied : tests[program]) {
            Uses &uses = fields[implied.test.field];
            uses.programs[implied.test.value].push_back(program);
            if (!uses.guards)
                uses.guards = implied.guards;
            std::erase_if(*uses.guards, [&](const FieldTest &guard) { return !std::binary_search(implied.guards.begin(), implied.guards.end(), guard); });
        }
    }
    for (const auto &[field, uses] : fields) {
        Base wanted{field.header, std::nullopt, {}};
        if (!uses.guards->empty())
            wanted.guard = uses.guards->front(); // of the outermost header
        const auto is_wanted = [&](const Base &base) { return base.header == wanted.header && base.guard == wanted.guard; };
        auto base = std::find_if(bases_.begin(), bases_.end(), is_wanted);
        if (base == bases_.end())
            base = bases_.insert(base, std::move(wanted));
        base->tables.emplace_back(field, uses.programs);
    }
    candidates_.reserve(tests.size());
}

std::span<const BpfCandidates> BpfIndex::find(const mapi_packet *packets, uint64_t mask)
{
    candidates_.clear();
    ++call_;
    for (const uint32_t program : always_)
        candidates_.push_back({mask, program});
    for (const Base &base : bases_) {
        PacketRest starts[MAPI_BATCH_MAX];
        uint8_t numbers[MAPI_BATCH_MAX]; // of the packets that are looked at
        uint32_t count = 0;
        const PacketField &field = base.tables.front().field();
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            const auto number = uint8_t(std::countr_zero(rest));
            numbers[count] = number;
            starts[count] = field.behind_header(packets[number]);
            count += !base.guard || base.guard->passes(packets[number]); // no branch: packets of all sorts come in any order
        }
        for (const FieldTable &table : base.tables)
            find_by(table, numbers, starts, count);
    }
    return candidates_;
}

void BpfIndex::find_by(const FieldTable &table, const uint8_t *packets, const PacketRest *starts, uint32_t count)
{
    for (uint64_t found = table.find_packets(starts, count); found != 0; found &= found - 1) {
        const int i = std::countr_zero(found);
        add_hits(table.find(starts[i]), uint64_t{1} << packets[i]);
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
