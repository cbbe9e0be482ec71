// SPDX-License-Identifier: MIT
// BPF program -> tests of fields that acceptance implies, however the expression was written.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "bpf_step.hpp"
#include "packet_field.hpp"

namespace mapi::match
{
// A test, and those that every packet has passed before it.
struct ImpliedTest {
    FieldTest test;
    std::vector<FieldTest> guards; // in order
};

// The jumps of one program that are taken when a field of the packet has a value.
class BpfTests
{
public:
    // The program has passed bpf_validate().  A longer one than this has none: it is not worth the analysis.
    static constexpr size_t kLongestProgram = 1024;
    explicit BpfTests(BpfSteps steps);

    // Each once, in order.
    std::vector<FieldTest> all() const;
    // Tests of which each packet that the program accepts passes at least one, with the least sum of costs.  None: some packets are
    // accepted without any test.
    std::optional<std::vector<ImpliedTest>> imply(const std::function<uint64_t(const FieldTest &)> &cost) const;

private:
    BpfSteps steps_;
    std::vector<std::optional<FieldTest>> tests_; // of each step: passed where it jumps
    std::vector<std::vector<FieldTest>> guards_; // passed on every way to each step
};
} // namespace mapi::match
