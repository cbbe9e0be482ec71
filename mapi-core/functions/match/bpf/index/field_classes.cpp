// SPDX-License-Identifier: MIT
// Field classes: a table for fields of one or two bytes.
#include "field_classes.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace mapi::match
{
FieldClasses::FieldClasses(const PacketField &field, std::vector<FieldComparison> comparisons)
    : field_(field), comparisons_(std::move(comparisons))
{
    std::sort(comparisons_.begin(), comparisons_.end());
    comparisons_.erase(std::unique(comparisons_.begin(), comparisons_.end()), comparisons_.end());
    kind_ = kind_of(comparisons_.size(), field.bytes);
    if (field.bytes <= 2 && !comparisons_.empty())
        number_classes();
}

// The outcome of an equality differs for one value, that of a range from a boundary on.
void FieldClasses::number_classes()
{
    const size_t values = size_t{field_.mask} + 1;
    std::vector<bool> is_named(values), is_boundary(values + 1);
    std::vector<FieldComparison> others;
    for (const FieldComparison &one : comparisons_) {
        if (one.operation == BPF_JSET || one.field.mask != field_.mask)
            others.push_back(one);
        else if (one.constant < values && one.operation == BPF_JEQ)
            is_named[one.constant] = true;
        else if (one.constant < values)
            is_boundary[one.constant + (one.operation == BPF_JGT)] = true;
    }
    constexpr uint32_t kNone = UINT32_MAX;
    using Class = std::tuple<uint32_t, uint32_t, std::vector<bool>>;
    std::map<Class, uint16_t> numbers;
    Class last;
    uint16_t number = 0;
    std::vector<bool> outcomes(others.size());
    std::map<std::vector<uint16_t>, uint8_t> known_blocks;
    std::vector<uint16_t> block;
    for (uint32_t value = 0, interval = 0; value < values; ++value) {
        interval += is_boundary[value];
        for (size_t i = 0; i < outcomes.size(); ++i)
            outcomes[i] = others[i].is_true_of(value);
        Class now{interval, is_named[value] ? value : kNone, outcomes};
        if (value == 0 || now != last) {
            number = numbers.try_emplace(now, uint16_t(numbers.size())).first->second;
            last = std::move(now);
        }
        block.push_back(number);
        if (block.size() < kBlockValues)
            continue;
        const auto [known, is_new] = known_blocks.try_emplace(block, uint8_t(known_blocks.size()));
        if (is_new)
            classes_.insert(classes_.end(), block.begin(), block.end());
        blocks_.push_back(known->second);
        block.clear();
    }
}
} // namespace mapi::match
