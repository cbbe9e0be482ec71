// SPDX-License-Identifier: MIT
// Literals in a text, as a scan finds them and as a plain search does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "match/rule/set/nibble_scan.hpp"

namespace test_support
{
inline std::string random_text(std::mt19937 &random, size_t bytes)
{
    std::string text;
    while (text.size() < bytes)
        text += "abAB\x01/"[random() % 6];
    return text;
}

template <class Scan> std::multiset<uint32_t> found(const Scan &scan, std::string_view text)
{
    // a block of its own size, so that a sanitizer sees a read beyond the end
    const auto copy = std::make_unique<uint8_t[]>(text.size());
    std::copy(text.begin(), text.end(), copy.get());
    std::multiset<uint32_t> ids;
    scan.find({copy.get(), text.size()}, [&](uint32_t id) { ids.insert(id); });
    return ids;
}

template <class Literal>
std::multiset<uint32_t> expected(const std::vector<Literal> &literals, std::string_view text)
{
    std::multiset<uint32_t> ids;
    for (const Literal &literal : literals) {
        for (size_t at = 0; at + literal.text.size() <= text.size(); ++at) {
            if (mapi::match::rule::may_be_at(
                    {reinterpret_cast<const uint8_t *>(text.data()), text.size()}, at,
                    literal.text))
                ids.insert(literal.id);
        }
    }
    return ids;
}
} // namespace test_support
