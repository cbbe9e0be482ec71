// SPDX-License-Identifier: MIT
// Field classes: comparisons of a field -> for each of its values, a class of those with the same
// outcomes.
#pragma once

#include <cstdint>
#include <vector>

#include "bpf_basis.hpp"
#include "packet_field.hpp"

namespace mapi::match
{
class FieldClasses
{
public:
    FieldClasses(const PacketField &field, std::vector<FieldComparison> comparisons);

    const PacketField &field() const { return field_; }
    uint32_t class_of(uint32_t value) const
    {
        if (!classes_.empty())
            return classes_[value];
        if (comparisons_.size() > kMostComparisons)
            return value;
        uint32_t outcomes = 0;
        for (size_t i = 0; i < comparisons_.size(); ++i)
            outcomes |= uint32_t{comparisons_[i].is_true_of(value)} << i;
        return outcomes;
    }

private:
    static constexpr size_t kMostComparisons = 32; // of a field of four bytes

    void number_classes();

    PacketField field_;
    std::vector<FieldComparison> comparisons_;
    std::vector<uint16_t> classes_; // by value, of fields of one or two bytes
};
} // namespace mapi::match
