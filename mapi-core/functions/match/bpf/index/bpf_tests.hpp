// SPDX-License-Identifier: MIT
// BPF program -> field tests that acceptance implies, no matter how the expression was written.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "match/bpf/bpf_step.hpp"
#include "packet_field.hpp"

namespace mapi::match
{
// A test, and the tests that every packet has passed before it.
struct ImpliedTest {
    FieldTest test;
    std::vector<FieldTest> guards; // in order
};

// The jumps of one program that are taken if a field of the packet has a given value.
class BpfTests
{
public:
    // The program has passed bpf_validate().  Programs longer than this have no tests; analysing
    // them is not worthwhile.
    static constexpr size_t kLongestProgram = 1024;
    explicit BpfTests(BpfSteps steps);

    // A field that a step loads, and the tests that every packet has passed before it, in order.
    struct Load {
        PacketField field;
        std::vector<FieldTest> guards;
    };
    // Per step; nullopt: what a step loads is unknown, or not a field.
    using Loads = std::vector<std::optional<Load>>;
    const std::optional<Loads> &loads() const { return loads_; }

    // Each test once, in order.
    std::vector<FieldTest> all() const;
    // Returns tests of which every accepted packet passes at least one, with the minimum sum of
    // costs.  nullopt: some packets are accepted without any test.
    std::optional<std::vector<ImpliedTest>>
    imply(const std::function<uint64_t(const FieldTest &)> &cost) const;

private:
    BpfSteps steps_;
    std::vector<std::optional<FieldTest>> tests_; // per step: passed if it jumps
    std::vector<std::vector<FieldTest>> guards_;  // per step: passed on every path to it
    std::optional<Loads> loads_;
};
} // namespace mapi::match
