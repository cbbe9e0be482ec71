// SPDX-License-Identifier: MIT
// Options as text -> configuration, or a message for what is not understood.
#include "support/catch.hpp"

#include <string>

#include <nsprobe/session.h>

extern "C" {
#include "session/options.h"
}

namespace
{
struct Parsed {
    nsp_options options;
    int err;
};

Parsed parse(const char *first, const char *second = nullptr)
{
    Parsed parsed{};
    nsp_options_init(&parsed.options);
    parsed.err = nsp_options_add(&parsed.options, first);
    if (!parsed.err)
        parsed.err = nsp_options_add(&parsed.options, second);
    return parsed;
}

void refuse(const std::string &text, const std::string &words)
{
    INFO(text);
    CHECK(parse(text.c_str()).err == -EINVAL);
    CHECK_THAT(nsp_last_error(), Catch::Contains(words));
}
} // namespace

TEST_CASE("options separated by blanks or semicolons fill the configuration",
          "[libnsprobe][options]")
{
    const Parsed parsed = parse(
        "output=/tmp/x.nsl;counters=instructions,cycles  clock=ordered\tfull=overwrite ring=64K "
        "kind=atomic source=step step-every=7 calibration=no");
    const auto &config = parsed.options.config;
    REQUIRE(parsed.err == 0);
    CHECK(std::string(parsed.options.output) == "/tmp/x.nsl");
    CHECK(std::string(parsed.options.counters) == "instructions,cycles");
    CHECK(config.clock == NSP_CLOCK_ORDERED);
    CHECK(config.full == NSLICE_FULL_OVERWRITE);
    CHECK(config.ring_bytes == 65536);
    CHECK(config.ring_kind == NSLICE_RING_ATOMIC);
    CHECK(config.source == NSP_SOURCE_STEP);
    CHECK(config.step_every == 7);
    CHECK(config.no_calibration == 1);
    CHECK(parsed.options.attach == 0);
}

TEST_CASE("options from the environment win over those of the program", "[libnsprobe][options]")
{
    const Parsed parsed = parse("ring=4M clock=fast", "clock=ordered attach=yes");
    CHECK(parsed.err == 0);
    CHECK(parsed.options.config.clock == NSP_CLOCK_ORDERED);
    CHECK(parsed.options.config.ring_bytes == 4u << 20);
    CHECK(parsed.options.attach == 1);
    CHECK(std::string(parse("counters=cycles", "counters=").options.counters).empty());
}

TEST_CASE("neither a null text nor an empty one changes anything", "[libnsprobe][options]")
{
    CHECK(parse(nullptr).err == 0);
    CHECK(parse("").err == 0);
    CHECK(parse(" ; ;; ").err == 0);
}

TEST_CASE("sizes may carry K, M or G", "[libnsprobe][options]")
{
    CHECK(parse("ring=4096").options.config.ring_bytes == 4096);
    CHECK(parse("ring=8k").options.config.ring_bytes == 8192);
    CHECK(parse("ring=2M").options.config.ring_bytes == 2u << 20);
    CHECK(parse("ring=1G").options.config.ring_bytes == 1ull << 30);
}

TEST_CASE("the location of the rings and who drains them are options", "[libnsprobe][options]")
{
    const Parsed parsed = parse("memory=nsmod recorder=nsmod");
    REQUIRE(parsed.err == 0);
    CHECK(parsed.options.config.memory == NSP_MEMORY_NSMOD);
    CHECK(parsed.options.config.drained_by == NSP_DRAINED_BY_NSMOD);
    CHECK(parse("").options.config.memory == NSP_MEMORY_AUTO);
    CHECK(parse("memory=process").options.config.memory == NSP_MEMORY_PROCESS);
    refuse("memory=disk", "auto, process, nsmod");
}

TEST_CASE("an option that is not understood is refused and named", "[libnsprobe][options]")
{
    refuse("colour=red", "unknown option \"colour\"; available: output, counters");
    refuse("ring", "option \"ring\": expected key=value");
    refuse("clock=quick", "option clock=quick: the value must be one of fast, ordered");
    refuse("source=pmu", "one of auto, rdpmc, perf-read, papi, step, none");
    refuse("calibration=maybe", "one of yes, no");
    refuse("output= ring=4M", "option output=: the file name is missing");
    refuse("ring=", "expected a number of bytes");
    refuse("ring=4X", "expected a number of bytes");
    refuse("ring=4KB", "expected a number of bytes");
    refuse("ring=-4K", "expected a number of bytes");
    refuse("clock=fast colour=red clock=quick", "colour");
    refuse("output=" + std::string(600, 'x'), "longer than 511");
    refuse(std::string(3000, ' ') + "clock=fast", "longer than 2047");
}

TEST_CASE("a number that does not fit is refused, not truncated", "[libnsprobe][options]")
{
    refuse("ring=99999999999999999999", "ring=99999999999999999999");
    refuse("ring=18446744073709551615G", "ring=18446744073709551615G");
    refuse("step-every=4294967296", "step-every=4294967296");
}
