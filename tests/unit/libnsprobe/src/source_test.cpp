// SPDX-License-Identifier: MIT
// Counter names and sources: an unavailable one ends with a message that says what is missing and
// what would work.
#include "support/catch.hpp"

#include <cerrno>
#include <string>

#include "support/requires.hpp"

extern "C" {
#include "counters/counters.h"
#include "counters/source.h"
}

namespace
{
struct Chosen {
    int err;
    uint32_t count;
    std::string words;
};

Chosen choose(const char *names, nsp_counter_source source)
{
    char text[256];
    Chosen chosen{};
    chosen.err = nsp_source_choose(names, source, &chosen.count, text, sizeof text);
    chosen.words = chosen.err ? nsp_last_error() : "";
    return chosen;
}

bool has_pmu()
{
    return choose("instructions", NSP_SOURCE_PERF_READ).err == 0;
}
} // namespace

TEST_CASE("no counters need no source", "[libnsprobe][source]")
{
    for (const auto source :
         {NSP_SOURCE_AUTO, NSP_SOURCE_NONE, NSP_SOURCE_RDPMC, NSP_SOURCE_STEP}) {
        CHECK(choose(nullptr, source).err == 0);
        CHECK(choose("", source).count == 0);
        CHECK(nsp_active_source == nullptr);
    }
}

TEST_CASE("counters with source none are refused", "[libnsprobe][source]")
{
    const Chosen chosen = choose("instructions", NSP_SOURCE_NONE);
    CHECK(chosen.err == -EINVAL);
    CHECK_THAT(chosen.words, Catch::Contains("source=none"));
}

TEST_CASE("an unknown counter is refused with the list of known ones", "[libnsprobe][source]")
{
    for (const auto source : {NSP_SOURCE_AUTO, NSP_SOURCE_RDPMC, NSP_SOURCE_PERF_READ}) {
        const Chosen chosen = choose("instructions,wishes", source);
        CHECK(chosen.err == -EINVAL);
        CHECK_THAT(chosen.words,
                   Catch::Contains("unknown counter \"wishes\"; available: instructions, cycles"));
    }
    CHECK_THAT(choose("wishes", NSP_SOURCE_STEP).words, Catch::Contains("\"wishes\""));
}

TEST_CASE("more counters than a record can hold, or a duplicate, are refused",
          "[libnsprobe][source]")
{
    const Chosen seven = choose("a,b,c,d,e,f,g", NSP_SOURCE_AUTO);
    CHECK(seven.err == -EINVAL);
    CHECK_THAT(seven.words, Catch::Contains("more than 6 counters"));
    CHECK_THAT(choose("cycles,cycles", NSP_SOURCE_AUTO).words,
               Catch::Contains("\"cycles\" is listed twice"));
}

TEST_CASE("a counter without a name is refused", "[libnsprobe][source]")
{
    for (const char *names : {"instructions,", ",instructions", "instructions,,cycles", ","}) {
        INFO(names);
        CHECK(choose(names, NSP_SOURCE_AUTO).err == -EINVAL);
        CHECK_THAT(nsp_last_error(), Catch::Contains("a counter's name is empty"));
    }
}

TEST_CASE("a list of counters that is too long is refused, not truncated", "[libnsprobe][source]")
{
    std::string names = "instructions";
    names += std::string(250, ',') + "cycles";
    CHECK(choose(names.c_str(), NSP_SOURCE_AUTO).err == -EINVAL);
}

TEST_CASE("step counts instructions and nothing else", "[libnsprobe][source]")
{
    CHECK(choose("instructions", NSP_SOURCE_STEP).err == 0);
    CHECK(std::string(nsp_active_source->name) == "step");
    const Chosen chosen = choose("instructions,cycles", NSP_SOURCE_STEP);
    CHECK(chosen.err == -ENOTSUP);
    CHECK_THAT(chosen.words, Catch::Contains("step counts only \"instructions\""));
}

TEST_CASE("without a PMU, rdpmc and perf-read say so and suggest step", "[libnsprobe][source]")
{
    if (has_pmu())
        return test_support::skip("this machine has a PMU");
    for (const auto source : {NSP_SOURCE_RDPMC, NSP_SOURCE_PERF_READ}) {
        const Chosen chosen = choose("instructions", source);
        CHECK(chosen.err < 0);
        CHECK_THAT(chosen.words,
                   Catch::Contains("counter \"instructions\"") && Catch::Contains("source=step"));
    }
}

TEST_CASE("auto falls back to step for instructions, and gives the PMU's reason for other counters",
          "[libnsprobe][source]")
{
    if (has_pmu())
        return test_support::skip("this machine has a PMU");
    CHECK(choose("instructions", NSP_SOURCE_AUTO).err == 0);
    CHECK(std::string(nsp_active_source->name) == "step");
    CHECK_THAT(nsp_source_reason(), Catch::StartsWith("chosen because: counter \"instructions\""));
    CHECK_THAT(choose("cycles", NSP_SOURCE_AUTO).words,
               Catch::Contains("PMU") || Catch::Contains("perf_event"));
}

TEST_CASE("where no source supports all counters, the message is about one that no source supports",
          "[libnsprobe][source]")
{
    if (has_pmu())
        return;
    const Chosen chosen = choose("page-faults,instructions",
                                 NSP_SOURCE_AUTO); // rdpmc refuses the first: it has no register
    CHECK(chosen.err < 0);
    CHECK_THAT(chosen.words,
               Catch::Contains("\"instructions\"") && !Catch::Contains("use source=perf-read"));
}
