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
    // Writes the class of the value in this text, which is long enough; returns where the next one
    // goes.
    uint16_t *add_class(const uint8_t *data, uint16_t *word) const
    {
        data += field_.offset;
        switch (kind_) {
        case Kind::kOne: break;
        case Kind::kByte: *word++ = narrow_class(field_.value_of<1>(data)); break;
        case Kind::kTwoBytes: *word++ = narrow_class(field_.value_of<2>(data)); break;
        case Kind::kFourBytes: {
            const uint32_t found = outcomes_of(field_.value_of<4>(data));
            *word++ = uint16_t(found);
            *word++ = uint16_t(found >> 16);
        }
        }
        return word;
    }

private:
    enum class Kind : uint8_t { kOne, kByte, kTwoBytes, kFourBytes }; // kOne: one class only
    static constexpr size_t kMostComparisons = 32;                    // of a field of four bytes

    static Kind kind_of(size_t comparisons, uint32_t bytes)
    {
        if (comparisons == 0)
            return Kind::kOne;
        return bytes == 1 ? Kind::kByte : bytes == 2 ? Kind::kTwoBytes : Kind::kFourBytes;
    }
    void number_classes();
    uint16_t narrow_class(uint32_t value) const
    {
        return classes_[size_t{blocks_[value / kBlockValues]} * kBlockValues +
                        value % kBlockValues];
    }
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
    Kind kind_ = Kind::kOne;
    std::vector<FieldComparison> comparisons_;
    // Of fields of one or two bytes: for each block of values the number of its classes, which it
    // shares with equal blocks: few values are named, so that the rest stays in the processor's
    // first cache.
    static constexpr uint32_t kBlockValues = 256;
    std::vector<uint8_t> blocks_;
    std::vector<uint16_t> classes_;
};
} // namespace mapi::match
