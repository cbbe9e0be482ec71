// SPDX-License-Identifier: MIT
// median: values -> the middle one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

namespace qos
{
// Requires a value.
template <class Value> Value median_of(std::vector<Value> values)
{
    const auto middle = values.begin() + ptrdiff_t(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}
} // namespace qos
