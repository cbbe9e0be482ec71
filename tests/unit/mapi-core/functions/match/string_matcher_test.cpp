// SPDX-License-Identifier: MIT
#include "match/text/string_matcher.hpp"

#include <random>
#include <string>
#include <thread>
#include <vector>

#include "few_strings.hpp"
#include "guarded_packets.hpp"
#include "match/errors.hpp"
#include "naive_search.hpp"
#include "support/catch.hpp"

namespace
{
using mapi::match::LetterCase;
using mapi::match::PatternError;
using mapi::match::StringMatcher;
using match_test::GuardedPackets;
using match_test::naive_search;

bool finds(const char *pattern, int offset, int depth, std::string_view packet)
{
    return StringMatcher(pattern, offset, depth)
        .matches(reinterpret_cast<const uint8_t *>(packet.data()), uint32_t(packet.size()));
}

int fault_of(const char *pattern, int offset, int depth)
{
    try {
        [[maybe_unused]] const StringMatcher accepted(pattern, offset, depth);
        return 0;
    } catch (const PatternError &error) {
        return error.code();
    }
}

std::string hex_block(std::string_view bytes)
{
    static const char digits[] = "0123456789abcdef";
    std::string text = "|";
    for (const char byte : bytes) {
        text += digits[uint8_t(byte) >> 4];
        text += digits[uint8_t(byte) & 15];
    }
    return text + "|";
}

std::string some_bytes(std::mt19937 &random, size_t bytes, unsigned values)
{
    std::string text(bytes, '\0');
    for (char &byte : text)
        byte = char(random() % values);
    return text;
}
} // namespace

TEST_CASE("a string is found at the first, a middle and the last position",
          "[mapi-core][match][strings]")
{
    CHECK(finds("www", 0, 0, "www.example.org"));
    CHECK(finds("exam", 0, 0, "www.example.org"));
    CHECK(finds("org", 0, 0, "www.example.org"));
    CHECK_FALSE(finds("orgs", 0, 0, "www.example.org"));
    CHECK_FALSE(finds("www", 0, 0, "ww"));
    CHECK_FALSE(finds("w", 0, 0, ""));
}

TEST_CASE("offset counts from the start of the frame", "[mapi-core][match][strings]")
{
    CHECK(finds("bc", 1, 0, "abcd"));
    CHECK_FALSE(finds("bc", 2, 0, "abcd"));
    CHECK_FALSE(finds("d", 4, 0, "abcd"));
    CHECK_FALSE(finds("d", 2147483647, 0, "abcd"));
}

TEST_CASE("the whole match lies inside depth bytes from offset", "[mapi-core][match][strings]")
{
    CHECK(finds("cd", 1, 3, "abcdef"));
    CHECK_FALSE(finds("de", 1, 3, "abcdef"));
    CHECK(finds("de", 1, 2147483647, "abcdef"));
}

TEST_CASE("an alternative longer than the window does not end the search for the rest",
          "[mapi-core][match][strings]")
{
    CHECK(finds("longer than this||cd", 0, 0, "abcd"));
    CHECK(finds("longer than this||cd", 0, 4, "abcd"));
    CHECK(finds("cd||longer than this", 0, 4, "abcd"));
    CHECK(finds("abcdefgh||1||2||3||4||cd", 0, 4, "abcd"));
}

TEST_CASE("a depth in which no alternative fits has its own error", "[mapi-core][match][strings]")
{
    CHECK(fault_of("abcd", 0, 3) == 3504);
    CHECK(fault_of("abcd||efgh", 0, 3) == 3504);
    CHECK(fault_of("abcd", 0, 4) == 0);
    CHECK(fault_of("abcd||ab", 0, 3) == 0);
}

TEST_CASE("a negative offset or depth is invalid", "[mapi-core][match][strings]")
{
    CHECK(fault_of("a", -1, 0) == 3505);
    CHECK(fault_of("a", 0, -1) == 3505);
}

TEST_CASE("only packets whose bit is set are searched and reported", "[mapi-core][match][strings]")
{
    const char *pattern = GENERATE("yes", "1||2||3||4||5||yes");
    const StringMatcher matcher(pattern, 0, 0);
    const std::string with = "oh yes";
    const std::string without = "oh no";
    std::vector<mapi_packet> packets(MAPI_BATCH_MAX);
    uint64_t expected = 0;
    for (size_t at = 0; at < packets.size(); ++at) {
        const std::string &text = at % 5 == 3 ? with : without;
        expected |= uint64_t{at % 5 == 3} << at;
        packets[at].data = reinterpret_cast<const uint8_t *>(text.data());
        packets[at].caplen = uint32_t(text.size());
    }

    CHECK(matcher.filter(packets.data(), ~uint64_t{0}) == expected);
    CHECK(matcher.filter(packets.data(), 0xffff0000ffff0000) == (expected & 0xffff0000ffff0000));
    CHECK(matcher.filter(packets.data(), 0) == 0);
}

TEST_CASE("random strings in random packets are found where a simple search finds them",
          "[mapi-core][match][strings]")
{
    std::mt19937 random(5);
    GuardedPackets packets;
    size_t found = 0;
    constexpr size_t kRounds = 4000;
    for (size_t round = 0; round < kRounds; ++round) {
        if (round % 50 == 0) {
            packets.clear();
            const unsigned values = 2u << random() % 3;
            while (!packets.is_full()) {
                const std::string text = some_bytes(random, random() % 400, values);
                packets.add({reinterpret_cast<const uint8_t *>(text.data()), text.size()}, 1500);
            }
        }
        std::vector<std::string> strings;
        std::string pattern;
        for (size_t count = 1 + (random() % 4 ? 0 : random() % 9); count > 0; --count) {
            strings.push_back(
                some_bytes(random, 1 + random() % (random() % 3 ? 12 : 40), 2u << random() % 3));
            pattern += (pattern.empty() ? "" : "||") + hex_block(strings.back());
        }
        const int offset = random() % 2 ? 0 : int(random() % 80);
        const int depth = random() % 2 ? 0 : int(40 + random() % 100);
        const uint64_t matching =
            StringMatcher(pattern, offset, depth).filter(packets.views(), packets.all());
        uint64_t expected = 0;
        for (size_t at = 0; at < packets.count(); ++at)
            expected |= uint64_t{naive_search(packets[at], strings, offset, depth)} << at;
        INFO(pattern << " offset " << offset << " depth " << depth);
        REQUIRE(matching == expected);
        found += size_t(__builtin_popcountll(matching));
    }
    CHECK(found > kRounds);
    CHECK(found < 60 * kRounds);
}

TEST_CASE("ignoring case, a pattern finds what it finds in lower case",
          "[mapi-core][match][strings]")
{
    const auto finds = [](const char *pattern, std::string_view packet, LetterCase letter_case) {
        return StringMatcher(pattern, 0, 0, letter_case)
            .matches(reinterpret_cast<const uint8_t *>(packet.data()), uint32_t(packet.size()));
    };
    CHECK(finds("Host:||x", "HOST: a", LetterCase::kIgnored));
    CHECK(finds("|48 4F|st", "a hoST", LetterCase::kIgnored));
    CHECK_FALSE(finds("Host:", "HOST: a", LetterCase::kExact));
    CHECK_FALSE(finds("[@`{", "{`@[", LetterCase::kIgnored)); // next to the letters
    CHECK_FALSE(finds("|e4|", "\xc4", LetterCase::kIgnored)); // not ASCII letters

    std::mt19937 random(7);
    constexpr std::string_view kLetters = "aAbBzZ@[`{\xe4\xc4";
    const auto some_letters = [&](size_t bytes) {
        std::string text(bytes, '\0');
        for (char &letter : text)
            letter = kLetters[random() % kLetters.size()];
        return text;
    };
    size_t found = 0;
    for (int round = 0; round < 600; ++round) {
        GuardedPackets packets;
        std::vector<std::string> packets_folded;
        while (!packets.is_full()) {
            const std::string text = some_letters(random() % 120);
            packets.add({reinterpret_cast<const uint8_t *>(text.data()), text.size()}, 1500);
            packets_folded.push_back(match_test::in_small_letters(text));
        }
        std::vector<std::string> strings;
        std::string pattern;
        for (size_t count = 1 + random() % 9; count > 0; --count) {
            const std::string text = some_letters(1 + random() % 5);
            strings.push_back(match_test::in_small_letters(text));
            pattern += (pattern.empty() ? "" : "||") + hex_block(text);
        }
        const int offset = random() % 2 ? 0 : int(random() % 40),
                  depth = random() % 2 ? 0 : int(10 + random() % 40);
        uint64_t expected = 0;
        for (size_t at = 0; at < packets.count(); ++at) {
            mapi_packet folded = packets[at];
            folded.data = reinterpret_cast<const uint8_t *>(packets_folded[at].data());
            expected |= uint64_t{naive_search(folded, strings, offset, depth)} << at;
        }
        INFO(pattern << " offset " << offset << " depth " << depth);
        REQUIRE(StringMatcher(pattern, offset, depth, LetterCase::kIgnored)
                    .filter(packets.views(), packets.all()) == expected);
        for (const std::string &string : strings)
            REQUIRE(mapi::match::has_folded_literal(packets[0].data, packets[0].caplen, string) ==
                    (packets_folded[0].find(string) != std::string::npos));
        found += size_t(__builtin_popcountll(expected));
    }
    CHECK(found > 3000);
    CHECK(found < 600 * 60);
}

TEST_CASE("every search agrees at every length of packet and string", "[mapi-core][match][strings]")
{
    GuardedPackets packets;
    std::mt19937 random(11);
    for (size_t packet_bytes = 0; packet_bytes < 300; ++packet_bytes) {
        packets.clear();
        const std::string text = some_bytes(random, packet_bytes, 3);
        packets.add({reinterpret_cast<const uint8_t *>(text.data()), text.size()}, 300);
        for (size_t string_bytes = 1; string_bytes < 20; ++string_bytes) {
            std::string string =
                packet_bytes >= string_bytes && random() % 2
                    ? text.substr(random() % (packet_bytes - string_bytes + 1), string_bytes)
                    : some_bytes(random, string_bytes, 3);
            const bool expected = text.find(string) != std::string::npos;
            CHECK(mapi::match::has_literal_portable(packets[0].data, packet_bytes, string) ==
                  expected);
            CHECK(mapi::match::best_literal_search()(packets[0].data, packet_bytes, string) ==
                  expected);
#ifdef __x86_64__
            CHECK(mapi::match::has_literal_sse2(packets[0].data, packet_bytes, string) == expected);
#endif
        }
    }
}

TEST_CASE("a packet made of false starts is searched to its end", "[mapi-core][match][strings]")
{
    std::string packet(2000, 'a');
    CHECK_FALSE(finds("aaaaaaaaaaaaaaabaaaaaaaaaaaaaaaa", 0, 0, packet));
    packet[1984] = 'b';
    CHECK(finds("aaaaaaaaaaaaaaabaaaaaaaaaaaaaaa", 0, 0, packet));
    CHECK_FALSE(finds("aaaaaaaaaaaaaaabaaaaaaaaaaaaaaaa", 0, 0, packet));
}

TEST_CASE("several threads can search with one matcher", "[mapi-core][match][strings]")
{
    const StringMatcher matcher("alpha||beta||gamma||delta||epsilon||zeta", 0, 0);
    const StringMatcher copy = matcher;
    const std::string text = "... epsilon ...";
    std::vector<mapi_packet> packets(MAPI_BATCH_MAX);
    for (size_t at = 0; at < packets.size(); at += 2) {
        packets[at].data = reinterpret_cast<const uint8_t *>(text.data());
        packets[at].caplen = uint32_t(text.size());
    }
    std::vector<int> wrong(12, 0);
    std::vector<std::thread> threads;
    for (int &count : wrong)
        threads.emplace_back([&] {
            for (int round = 0; round < 500; ++round)
                count += (round % 2 ? matcher : copy).filter(packets.data(), ~uint64_t{0}) !=
                         0x5555555555555555;
        });
    for (std::thread &thread : threads)
        thread.join();
    CHECK(wrong == std::vector<int>(12, 0));
}

TEST_CASE("one of few alternatives is found wherever it and the packet end",
          "[mapi-core][match][strings]")
{
    match_test::FewStrings few;
    for (int round = 0; round < 300; ++round) {
        const std::vector<std::string> strings = few.strings(5);
        std::string pattern;
        for (const std::string &text : strings)
            pattern += (pattern.empty() ? "" : "||") + text;
        for (int i = 0; i < 100; ++i) {
            const std::string text = few.text_with(strings);
            INFO(pattern << " in " << text);
            REQUIRE(finds(pattern.c_str(), 0, 0, text));
            REQUIRE_FALSE(finds(pattern.c_str(), 0, 0, std::string(text.size(), 'Q')));
        }
    }
}
