// SPDX-License-Identifier: MIT
// BPF program -> all that its verdict depends on, if that is fields and comparisons of them.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <vector>

#include "bpf_tests.hpp"

namespace mapi::match
{
// Of a field with a constant.
struct FieldComparison {
    PacketField field; // with its mask
    int operation;     // BPF_JEQ, BPF_JGT, BPF_JGE or BPF_JSET
    uint32_t constant;

    auto operator<=>(const FieldComparison &) const = default;

    bool is_true_of(uint32_t value) const
    {
        const uint32_t masked = value & field.mask;
        switch (operation) {
        case BPF_JEQ: return masked == constant;
        case BPF_JGT: return masked > constant;
        case BPF_JGE: return masked >= constant;
        default: return (masked & constant) != 0;
        }
    }
};

struct BpfBasis {
    std::vector<BpfTests::Load> loads; // packets without such a field may be rejected
    std::vector<FieldComparison> comparisons;
};

// Nullopt: the verdict depends on more, such as the packet's length or a sum.
std::optional<BpfBasis> find_basis(BpfSteps program);
} // namespace mapi::match
