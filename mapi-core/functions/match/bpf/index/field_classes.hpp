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
        if (field_.bytes > 2)
            return outcomes_of(value);
        return classes_[size_t{blocks_[value / kBlockValues]} * kBlockValues +
                        value % kBlockValues];
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
    // Of fields of one or two bytes: for each block of values the number of its classes, which it
    // shares with equal blocks: few values are named, so that the rest stays in the processor's
    // first cache.
    static constexpr uint32_t kBlockValues = 256;
    std::vector<uint8_t> blocks_;
    std::vector<uint16_t> classes_;
};
} // namespace mapi::match
