// SPDX-License-Identifier: MIT
// Chooses the programs and tests that are worth an index.
#include "bpf_choice.hpp"

#include <algorithm>
#include <map>
#include <optional>

namespace mapi::match
{
namespace
{
// A field costs each packet about as much as running this many programs.
constexpr size_t kFewestOfField = 4;
constexpr size_t kFewestOfIndex = 8;
// A test shared by more than one in this many programs, such as the one for IPv4, would select too
// many of them.
constexpr size_t kMostShared = 8;

using Chosen =
    std::vector<std::optional<std::vector<ImpliedTest>>>; // per program; none: always a candidate

// Chooses the tests that distinguish each program: of all cuts, the one whose tests the fewest
// programs share.
Chosen choose_cuts(const std::vector<BpfSteps> &programs)
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
        tests.push_back(
            program.imply([&](const FieldTest &test) { return programs_with.at(test); }));
        for (const ImpliedTest &implied : tests.back().value_or(std::vector<ImpliedTest>())) {
            if (programs_with.at(implied.test) > limit) {
                tests.back().reset();
                break;
            }
        }
    }
    return tests;
}

// Fields tested by few programs are not worthwhile; dropping one may leave other fields with too
// few.
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

BpfChoice choose_tests(const std::vector<BpfSteps> &programs)
{
    Chosen chosen = choose_cuts(programs);
    drop_rare_fields(chosen);
    BpfChoice choice = {std::vector<std::vector<ImpliedTest>>(programs.size()), {}};
    for (uint32_t i = 0; i < programs.size(); ++i) {
        if (chosen[i])
            choice.tests[i] = std::move(*chosen[i]);
        else
            choice.always.push_back(i);
    }
    if (programs.size() < choice.always.size() + kFewestOfIndex)
        choice.tests.clear();
    return choice;
}
} // namespace mapi::match
