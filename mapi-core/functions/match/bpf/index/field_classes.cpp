// SPDX-License-Identifier: MIT
// Field classes: a table for fields of one or two bytes.
#include "field_classes.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace mapi::match
{
FieldClasses::FieldClasses(const PacketField &field, std::vector<FieldComparison> comparisons)
    : field_(field), comparisons_(std::move(comparisons))
{
    std::sort(comparisons_.begin(), comparisons_.end());
    comparisons_.erase(std::unique(comparisons_.begin(), comparisons_.end()), comparisons_.end());
    if (field.bytes <= 2)
        number_classes();
}

// The outcomes of comparisons without a mask change only at a few values.
void FieldClasses::number_classes()
{
    const auto is_plain = [this](const FieldComparison &one) {
        return one.operation != BPF_JSET && one.field.mask == field_.mask;
    };
    const auto masked = std::stable_partition(comparisons_.begin(), comparisons_.end(), is_plain);
    std::vector<bool> is_boundary(size_t{field_.mask} + 2);
    for (auto one = comparisons_.begin(); one != masked; ++one) {
        if (one->constant > field_.mask)
            continue;
        is_boundary[one->constant + (one->operation == BPF_JGT)] = true;
        if (one->operation == BPF_JEQ)
            is_boundary[one->constant + 1] = true;
    }
    std::map<std::pair<uint32_t, std::vector<bool>>, uint16_t> numbers;
    std::vector<bool> outcomes(size_t(comparisons_.end() - masked));
    classes_.reserve(size_t{field_.mask} + 1);
    for (uint32_t value = 0, interval = 0; value <= field_.mask; ++value) {
        interval += is_boundary[value];
        for (size_t i = 0; i < outcomes.size(); ++i)
            outcomes[i] = masked[long(i)].is_true_of(value);
        const auto number = uint16_t(numbers.size());
        classes_.push_back(numbers.try_emplace({interval, outcomes}, number).first->second);
    }
}
} // namespace mapi::match
