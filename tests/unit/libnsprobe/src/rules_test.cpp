// SPDX-License-Identifier: MIT
// Rules by name, whose code programs, the kernel and nsdump share.
#include "support/catch.hpp"

#include <fnmatch.h>

#include <random>
#include <string>

extern "C" {
#include <nslice/rules.h>
}

namespace
{
bool matches(const std::string &pattern, const std::string &name)
{
    const char *text = pattern.c_str();
    return nslice_pattern_matches(text, text + pattern.size(), name.c_str()) != 0;
}

nslice_rules_fault fault_of(const std::string &rules)
{
    return nslice_rules_check(rules.c_str(), rules.size());
}

class Texts
{
public:
    std::string next(const std::string &alphabet, size_t most)
    {
        std::string text(std::uniform_int_distribution<size_t>(0, most)(random_), 0);
        for (char &one : text)
            one = alphabet[std::uniform_int_distribution<size_t>(0, alphabet.size() - 1)(random_)];
        return text;
    }

private:
    std::mt19937 random_{1};
};

// glibc takes only some of the sets that have no end for ordinary characters.
bool has_open_set(const std::string &pattern)
{
    const size_t at = pattern.rfind('[');
    return at != std::string::npos && pattern.find(']', at) == std::string::npos;
}
} // namespace

TEST_CASE("a pattern matches what fnmatch(3) matches", "[libnsprobe][rules]")
{
    Texts texts;
    size_t matched = 0;
    for (int i = 0; i < 300000; ++i) {
        const std::string pattern = texts.next("ab-]![^\\*?c", 8), name = texts.next("abc-]!", 6);
        if (has_open_set(pattern))
            continue;
        const bool expected = fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
        matched += expected;
        INFO(pattern << " and " << name);
        REQUIRE(matches(pattern, name) == expected);
    }
    CHECK(matched > 10000);
    CHECK(matches("a[b", "a[b")); // a set without an end
    CHECK_FALSE(matches("a\\", "a"));
    CHECK_FALSE(matches("a\\", "a\\"));
}

TEST_CASE("a pattern of many stars takes no more steps than its length times the name's",
          "[libnsprobe][rules]")
{
    std::string stars;
    for (int i = 0; i < 300; ++i)
        stars += "a*";
    CHECK_FALSE(matches(stars + "b", std::string(1000, 'a')));
    CHECK(matches(stars, std::string(1000, 'a')));
}

TEST_CASE("names of the kernel may be given with the prefix that outputs show, those of programs "
          "may not",
          "[libnsprobe][rules]")
{
    CHECK(nslice_rules_select("irq", "irq", 1));
    CHECK(nslice_rules_select("kernel:irq", "irq", 1));
    CHECK(nslice_rules_select("filter*,kernel:*", "irq", 1));
    CHECK_FALSE(nslice_rules_select("!kernel:irq", "irq", 1));
    CHECK(nslice_rules_select("!kernel:irq", "irq", 0));
    CHECK_FALSE(nslice_rules_select("filter*,kernel:*", "irq", 0));
    CHECK_FALSE(nslice_rules_select("kernel:", "irq", 1));
    CHECK_FALSE(nslice_rules_select("kernel", "irq", 1));
}

TEST_CASE("malformed rules are found, with the reason", "[libnsprobe][rules]")
{
    CHECK(fault_of("") == NSLICE_RULES_VALID);
    CHECK(fault_of("filter*,!publish,[!a]?\\*") == NSLICE_RULES_VALID);
    CHECK(fault_of(std::string(NSLICE_RULES_TEXT - 1, 'a')) == NSLICE_RULES_VALID);
    CHECK(fault_of(std::string(NSLICE_RULES_TEXT, 'a')) == NSLICE_RULES_TOO_LONG);
    CHECK(fault_of("a,,b") == NSLICE_RULES_EMPTY_PATTERN);
    CHECK(fault_of("a,!") == NSLICE_RULES_EMPTY_PATTERN);
    CHECK(fault_of("a,") == NSLICE_RULES_LAST_COMMA);
    CHECK(fault_of("a\nb") == NSLICE_RULES_CONTROL_CHARACTER);
    CHECK(fault_of(std::string("a\0b", 3)) == NSLICE_RULES_CONTROL_CHARACTER);
    CHECK(fault_of("[[:digit:]]") == NSLICE_RULES_NAMED_CLASS);
}
