// SPDX-License-Identifier: MIT
// Many patterns in one pass: each finds what it finds by itself.
#include "match/text/string_matcher_set.hpp"

#include <deque>
#include <random>
#include <string>

#include "few_strings.hpp"
#include "guarded_packets.hpp"
#include "support/catch.hpp"
#include "support/requires.hpp"

namespace
{
using mapi::match::LetterCase;
using mapi::match::StringMatcher;
using mapi::match::StringMatcherSet;
using match_test::GuardedPackets;

struct Patterns {
    std::deque<StringMatcher> matchers;
    std::unique_ptr<StringMatcherSet> set;

    void add(const std::string &pattern, int offset = 0, int depth = 0,
             LetterCase letter_case = LetterCase::kExact)
    {
        matchers.emplace_back(pattern, offset, depth, letter_case);
    }
    bool make_set()
    {
        std::vector<const StringMatcher *> pointers;
        for (const StringMatcher &matcher : matchers)
            pointers.push_back(&matcher);
        set = StringMatcherSet::make(pointers);
        return set != nullptr;
    }
    // Whether each matcher finds in the set what it finds by itself; no matcher may be reported
    // twice, or without packets.
    bool agrees(const GuardedPackets &packets, uint64_t mask) const
    {
        std::vector<uint64_t> found(matchers.size());
        for (const auto &matches : set->find(packets.views(), mask)) {
            if (matches.mask == 0 || found[matches.matcher] != 0)
                return false;
            found[matches.matcher] = matches.mask;
        }
        for (size_t i = 0; i < matchers.size(); ++i) {
            if (found[i] != matchers[i].filter(packets.views(), mask))
                return false;
        }
        return true;
    }
};

void add(GuardedPackets &packets, const std::string &text)
{
    packets.add({reinterpret_cast<const uint8_t *>(text.data()), text.size()},
                uint32_t(text.size()));
}
} // namespace

TEST_CASE("patterns of all forms find in one pass what each finds by itself",
          "[mapi-core][match][strings]")
{
    Patterns patterns;
    patterns.add("GET /");
    patterns.add("GET /", 4, 0);
    patterns.add("GET /", 4, 5);
    patterns.add("GET /", 0, 6);
    patterns.add("|00 00 01|");
    patterns.add("|00|");
    patterns.add("get /", 0, 0, LetterCase::kIgnored);
    patterns.add("GET /", 4, 5, LetterCase::kIgnored);
    patterns.add("gEt||pOST||HEAD", 0, 0, LetterCase::kIgnored);
    patterns.add("g", 0, 0, LetterCase::kIgnored);
    patterns.add("GET||POST||HEAD");
    patterns.add("a\\|b");
    patterns.add(std::string(StringMatcherSet::kLongestBytes + 1, 'x'));
    patterns.add(".*[", 1, 2000000000);
    patterns.add("GET /");
    if (!patterns.make_set())
        return test_support::skip("no Vectorscan");
    GuardedPackets packets;
    for (const char *text : {"", "GET /", "GET / GET /", "    GET /", "    gEt /", "get /",
                             "POST GET", "xxa|b", ".*[.*[", "GET ", "|00|"})
        add(packets, text);
    add(packets, std::string("\0\0\1", 3));
    add(packets, std::string(2000, 'x'));

    CHECK(patterns.agrees(packets, packets.all()));
    CHECK(patterns.agrees(packets, 0x2a));
    CHECK(patterns.set->find(packets.views(), 1).empty());
}

TEST_CASE("random patterns with windows find in one pass what each finds by itself",
          "[mapi-core][match][strings]")
{
    std::mt19937 random(5);
    const auto below = [&](uint32_t limit) { return random() % limit; };
    const auto text = [&](uint32_t bytes, uint32_t letters) {
        std::string made;
        for (uint32_t i = 0; i < bytes; ++i)
            made.push_back(char((below(2) ? 'a' : 'A') + below(letters)));
        return made;
    };
    size_t found = 0;
    for (int round = 0; round < 20; ++round) {
        Patterns patterns;
        for (int i = 0; i < 60; ++i) {
            const std::string pattern =
                text(1 + below(5), 3) + (below(4) ? "" : "||" + text(1 + below(4), 3));
            patterns.add(pattern, below(2) ? int(below(30)) : 0, below(2) ? int(6 + below(40)) : 0,
                         below(2) ? LetterCase::kExact : LetterCase::kIgnored);
        }
        if (!patterns.make_set())
            return test_support::skip("no Vectorscan");
        GuardedPackets packets;
        while (!packets.is_full())
            add(packets, text(below(100), 3));
        REQUIRE(patterns.agrees(packets, packets.all()));
        for (const auto &matches : patterns.set->find(packets.views(), packets.all()))
            found += size_t(__builtin_popcountll(matches.mask));
    }
    CHECK(found > 1000);
    CHECK(found < 20 * 60 * 60);
}

TEST_CASE("few patterns find in one pass what each finds by itself, also at the end of packets",
          "[mapi-core][match][strings]")
{
    match_test::FewStrings few;
    for (int round = 0; round < 200; ++round) {
        const std::vector<std::string> strings = few.strings(2);
        Patterns patterns;
        for (const std::string &text : strings)
            patterns.add(text);
        if (!patterns.make_set())
            return test_support::skip("no Vectorscan");
        GuardedPackets packets;
        while (!packets.is_full())
            add(packets, few.text_with(strings));
        REQUIRE(patterns.agrees(packets, packets.all()));
    }
}

TEST_CASE("a pattern that would end beyond the packet is not found", "[mapi-core][match][strings]")
{
    Patterns patterns;
    for (const char *pattern : {"|61 00|", "|61 00 00|", "|00 00|", "b|00|"})
        patterns.add(pattern);
    if (!patterns.make_set())
        return test_support::skip("no Vectorscan");
    GuardedPackets packets;
    for (const std::string &text :
         {std::string("xa"), std::string("xa\0", 3), std::string("ab"), std::string()})
        add(packets, text);
    CHECK(patterns.agrees(packets, packets.all()));
    CHECK(patterns.set->find(packets.views(), packets.all()).size() == 1);
}
