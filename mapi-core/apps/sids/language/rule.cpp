// SPDX-License-Identifier: MIT
#include "rule.hpp"

#include <algorithm>
#include <cstring>

namespace sids
{
void Argument::append(std::string_view text, size_t offset)
{
    parts_.push_back({text_.size(), offset});
    text_ += text;
}

void Argument::append(const Argument &other)
{
    for (const Part &part : other.parts_)
        parts_.push_back({text_.size() + part.at, part.offset});
    text_ += other.text_;
}

size_t Argument::place_of(size_t at) const
{
    const auto after =
        std::upper_bound(parts_.begin(), parts_.end(), at,
                         [](size_t byte, const Part &part) { return byte < part.at; });
    if (after == parts_.begin())
        return parts_.empty() ? 0 : parts_.front().offset;
    const Part &part = *std::prev(after);
    return part.offset + (at - part.at);
}

bool Rule::finds_the_same(const Rule &other) const
{
    return is_copy == other.is_copy && is_cooked == other.is_cooked &&
           std::equal(steps.begin(), steps.end(), other.steps.begin(), other.steps.end(),
                      [](const Step &one, const Step &two) {
                          return std::strcmp(one.function, two.function) == 0 &&
                                 one.argument.text() == two.argument.text();
                      });
}
} // namespace sids
