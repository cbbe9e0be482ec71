// SPDX-License-Identifier: MIT
// Word table: what it finds, 16 words at a time or one by one, is what a plain search finds.
#include <random>
#include <set>
#include <string>
#include <vector>

#include "found_literals.hpp"
#include "match/rule/set/word_table.hpp"
#include "support/catch.hpp"

using namespace mapi::match::rule;
using namespace test_support;

namespace
{
std::vector<bool> ways()
{
    return WordTable::can_have_blocks() ? std::vector<bool>{false, true} : std::vector<bool>{false};
}

// A literal may be found by several of its words.
std::set<uint32_t> once(const std::multiset<uint32_t> &ids)
{
    return {ids.begin(), ids.end()};
}
} // namespace

TEST_CASE("literals of each length are found in texts of any length, in both ways",
          "[mapi-core][match]")
{
    std::mt19937 random(11);
    for (int round = 0; round < 300; ++round) {
        std::vector<std::string> texts;
        const size_t count = 1 + random() % 20, shortest = WordTable::kWordBytes + random() % 12;
        for (size_t i = 0; i < count; ++i)
            texts.push_back(random_text(random, shortest + random() % 4));
        std::vector<WordTable::Literal> literals;
        for (uint32_t id = 0; id < count; ++id)
            literals.push_back({texts[id], id});
        const std::string text = random_text(random, random() % 700);
        for (const bool has_blocks : ways()) {
            INFO("blocks: " << has_blocks << ", text of " << text.size() << " bytes");
            CHECK(once(found(WordTable(literals, has_blocks), text)) ==
                  once(expected(literals, text)));
        }
    }
}

TEST_CASE("a literal at any place of a text is found by words at every stride",
          "[mapi-core][match]")
{
    for (size_t bytes = WordTable::kWordBytes; bytes < 14; ++bytes) {
        const std::string literal = std::string("/etc/passwd.x").substr(0, bytes);
        const std::vector<WordTable::Literal> literals = {{literal, 3}};
        for (const bool has_blocks : ways()) {
            const WordTable table(literals, has_blocks);
            for (size_t before = 0; before < 270; ++before) {
                const std::string text = std::string(before, 'x') + literal;
                CHECK(once(found(table, text + "yyyyy")) == std::set<uint32_t>{3});
                CHECK(once(found(table, text)) == std::set<uint32_t>{3});
                CHECK(found(table, std::string_view(text).substr(0, text.size() - 1)).empty());
            }
        }
    }
}
