// SPDX-License-Identifier: MIT
// Nibble scan: what it finds, at each width that this processor has, is what a plain search finds.
#include <random>
#include <set>
#include <string>
#include <vector>

#include "found_literals.hpp"
#include "match/rule/set/nibble_scan.hpp"
#include "support/catch.hpp"

using namespace mapi::match::rule;
using namespace test_support;

namespace
{
using Width = NibbleScan::Width;

std::vector<Width> widths()
{
    std::vector<Width> all;
    for (const Width width : {Width::kAvx2, Width::kAvx512}) {
        if (width <= NibbleScan::widest())
            all.push_back(width);
    }
    return all;
}
} // namespace

TEST_CASE("every place of every literal is found at each width, up to the last byte",
          "[mapi-core][match]")
{
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        std::vector<std::string> texts;
        const size_t count = 1 + random() % 20;
        for (size_t i = 0; i < count; ++i)
            texts.push_back(random_text(random, 2 + random() % 7));
        std::vector<NibbleScan::Literal> literals;
        for (uint32_t id = 0; id < count; ++id)
            literals.push_back({texts[id], true, id});
        const std::string text = random_text(random, random() % 300);
        for (const Width width : widths()) {
            INFO("width " << int(width) << ", text of " << text.size() << " bytes");
            CHECK(found(NibbleScan(literals, width), text) == expected(literals, text));
        }
    }
}

TEST_CASE("a literal at any place of a text of any length is found once", "[mapi-core][match]")
{
    const std::vector<NibbleScan::Literal> literals = {{"/etc/passwd", false, 3}};
    const std::string literal(literals.front().text);
    for (const Width width : widths()) {
        const NibbleScan scan(literals, width);
        for (size_t before = 0; before < 140; ++before) {
            for (const size_t after : {0, 1, 5, 70}) {
                const std::string text =
                    std::string(before, 'x') + literal + std::string(after, 'y');
                CHECK(found(scan, text) == std::multiset<uint32_t>{3});
                CHECK(found(scan, std::string_view(text).substr(0, before + literal.size() - 1))
                          .empty());
            }
        }
    }
}
