// SPDX-License-Identifier: MIT
#include "cli/record/record_switch.hpp"

#include <csignal>

#include "support/catch.hpp"

using nsdump::check_switch_signal;
using nsdump::RecordSwitch;

namespace
{
// A switch without a recorder: for signals that change nothing.
struct Scene {
    RecordSwitch paused{{"USR1", "USR1"}};

    Scene() = default;
    Scene(const Scene &) = delete;
    Scene &operator=(const Scene &) = delete;
    ~Scene() { RecordSwitch::restore_signals(); }
};
} // namespace

TEST_CASE("signals have the names that kill lists", "[nsdump][record]")
{
    for (const char *name :
         {"USR1", "SIGUSR2", "10", "RTMIN", "RTMIN+15", "SIGRTMAX-14", "RTMAX-1", "RTMAX"})
        CHECK(check_switch_signal(name).empty());
    for (const char *name : {"", "usr1", "RTMAX+1", "RTMAX-", "RTMAX-0", "RTMAX-99", "RTMIN+99"})
        CHECK(check_switch_signal(name).find("is not a signal") != std::string::npos);
}

TEST_CASE("a start and a stop at almost the same time are no lack of a signal", "[nsdump][record]")
{
    Scene scene;
    CHECK(scene.paused.why_not_started() == "no signal USR1 came");
    std::raise(SIGUSR1);
    std::raise(SIGUSR1);
    const RecordSwitch::Change change = scene.paused.follow(nullptr);
    CHECK(change.words == "2 signals at almost the same time: still paused");
    CHECK(change.is_warning);
    CHECK_FALSE(scene.paused.is_on());
    CHECK(scene.paused.why_not_started() ==
          "signal USR1 came, but another paused again before the recording began");
}

TEST_CASE("a signal that changes nothing is reported", "[nsdump][record]")
{
    RecordSwitch paused({"USR1", "USR2"});
    std::raise(SIGUSR2);
    CHECK(paused.follow(nullptr).words == "1 signal had no effect: it is paused already");
    CHECK(paused.why_not_started() == "no signal USR1 came");
    RecordSwitch::restore_signals();
}
