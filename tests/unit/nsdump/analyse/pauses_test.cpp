// SPDX-License-Identifier: MIT
#include "analyse/pauses.hpp"

#include "nsdump_support.hpp"
#include "support/catch.hpp"

using nsdump::Pauses;
using nsdump::pauses_of;
using test_support::source_of;
using test_support::TraceBuilder;

namespace
{
constexpr const char *kSwitches = "session.switch.1=stop 10 ns 100 ticks\n"
                                  "session.switch.2=start 20 ns 200 ticks\n"
                                  "session.switch.3=stop 30 ns 300 ticks\n";

Pauses pauses(const std::string &info)
{
    TraceBuilder builder;
    builder.info(test_support::plain_info()).info(info);
    builder.start(0, 1, 1, 1);
    builder.leave_out(10);
    builder.start(0, 1, 1, 2);
    builder.leave_out(5);
    builder.start(1, 1, 1, 3);
    return pauses_of(nsdump::TraceFile(source_of(builder.bytes())));
}
} // namespace

TEST_CASE("a finished recording has the totals of its pauses", "[nsdump][pauses]")
{
    const Pauses found =
        pauses(std::string(kSwitches) + "session.switches=3\nsession.paused_ns=1234567890\n"
                                        "session.paused_records=20\n");
    CHECK(found.count == 2);
    CHECK(found.words() ==
          "the recording was paused 2 times, for 1.235 s: 20 records were left out");
}

TEST_CASE("an unfinished recording has what its chunks and lines have", "[nsdump][pauses]")
{
    const Pauses found = pauses(kSwitches);
    CHECK(found.count == 2);
    CHECK(found.words() == "the recording was paused 2 times: at least 15 records were left out");
}

TEST_CASE("a recording without pauses has nothing to say of them", "[nsdump][pauses]")
{
    CHECK(pauses("").words() == "");
}

TEST_CASE("totals that are no numbers are not used", "[nsdump][pauses]")
{
    const Pauses found =
        pauses(std::string(kSwitches) + "session.switches=-1\nsession.paused_ns=1e9\n"
                                        "session.paused_records=99999999999999999999\n");
    CHECK(found.count == 2);
    CHECK_FALSE(found.ns.has_value());
    CHECK(found.left_out == 15);
}
