// SPDX-License-Identifier: MIT
// Many BPF programs -> those that an index can find by fields of a packet, and by which.
#pragma once

#include <cstdint>
#include <vector>

#include "bpf_tests.hpp"
#include "match/bpf/bpf_step.hpp"

namespace mapi::match
{
struct BpfChoice {
    // For each program: tests of which every packet that it accepts passes at least one; none: in
    // `always`.  Empty if too few programs test for different values of the same fields.
    std::vector<std::vector<ImpliedTest>> tests;
    std::vector<uint32_t> always; // programs that may accept any packet
};

BpfChoice choose_tests(const std::vector<BpfSteps> &programs);
} // namespace mapi::match
