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
    // How many words of 16 bits a class has: 0 if there is only one class.
    size_t words() const { return comparisons_.empty() ? 0 : field_.bytes <= 2 ? 1 : 2; }
    uint32_t class_of(uint32_t value) const
    {
        if (!small_classes_.empty())
            return small_classes_[value];
        return field_.bytes <= 2 ? classes_[value] : outcomes_of(value);
    }

private:
    static constexpr size_t kMostComparisons = 32; // of a field of four bytes

    void number_classes();
    uint32_t outcomes_of(uint32_t value) const
    {
        if (comparisons_.size() > kMostComparisons)
            return value;
        uint32_t outcomes = 0;
        for (size_t i = 0; i < comparisons_.size(); ++i)
            outcomes |= uint32_t{comparisons_[i].is_true_of(value)} << i;
        return outcomes;
    }

    PacketField field_;
    std::vector<FieldComparison> comparisons_;
    // By value, of fields of one or two bytes; the first one if 256 classes are enough.
    std::vector<uint8_t> small_classes_;
    std::vector<uint16_t> classes_;
};
} // namespace mapi::match
