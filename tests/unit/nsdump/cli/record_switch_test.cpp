// SPDX-License-Identifier: MIT
#include "cli/record/record_switch.hpp"

#include <csignal>

#include "support/catch.hpp"

using nsdump::check_switch_signal;

TEST_CASE("signals have the names that kill lists", "[nsdump][record]")
{
    for (const char *name :
         {"USR1", "SIGUSR2", "10", "RTMIN", "RTMIN+15", "SIGRTMAX-14", "RTMAX-1", "RTMAX"})
        CHECK(check_switch_signal(name).empty());
    for (const char *name : {"", "usr1", "RTMAX+1", "RTMAX-", "RTMAX-0", "RTMAX-99", "RTMIN+99"})
        CHECK(check_switch_signal(name).find("is not a signal") != std::string::npos);
}
