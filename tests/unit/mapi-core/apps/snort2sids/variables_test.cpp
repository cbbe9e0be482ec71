// SPDX-License-Identifier: MIT
// variables: definitions -> values in text.
#include "support/catch.hpp"

#include "malformed_at.hpp"
#include "snort2sids/source/variables.hpp"

using namespace snort2sids;

TEST_CASE("a variable has the value that its parts had when it was defined",
          "[snort2sids][variables]")
{
    Variables variables;
    variables.define("HOME", "10.0.0.0/8");
    variables.define("ALL", "[$HOME,!$(HOME)]");
    variables.define("HOME", "any");
    CHECK(variables.expand("x$ALL,$HOME") == "x[10.0.0.0/8,!10.0.0.0/8],any");
}

TEST_CASE("a variable of the command line keeps its value", "[snort2sids][variables]")
{
    Variables variables;
    variables.fix("HOME", "192.168.0.0/16");
    variables.fix("OTHERS", "!$HOME");
    variables.define("HOME", "any");
    CHECK(variables.expand("$HOME $OTHERS") == "192.168.0.0/16 !192.168.0.0/16");
}

TEST_CASE("an undefined variable has its default, or is an error that names it",
          "[snort2sids][variables]")
{
    const Variables variables;
    CHECK(variables.expand("$(PORTS:-80)") == "80");
    const MalformedAt plain = malformed_at([&] { variables.expand("a $HOME_NET"); });
    CHECK(plain.offset == 2);
    CHECK(plain.what.find("HOME_NET is not defined (give --var HOME_NET=") != std::string::npos);
    CHECK(malformed_at([&] { variables.expand("$(X:?set it)"); }).what == "variable X: set it");
    CHECK(malformed_at([&] { variables.expand("$(X"); }).offset == 0);
    CHECK(malformed_at([&] { variables.expand("ab$"); }).offset == 2);
}

TEST_CASE("variables that double each other do not fill the memory", "[snort2sids][variables]")
{
    Variables variables;
    variables.define("A", "10.0.0.1");
    const MalformedAt end = malformed_at([&] {
        for (int i = 0; i < 100; ++i)
            variables.define("A", "[$A,$A]");
    });
    CHECK(end.what.find("too long") != std::string::npos);
}
