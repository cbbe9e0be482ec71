// SPDX-License-Identifier: MIT
#include "surroundings/core_watch.hpp"

#include <nlohmann/json.hpp>

#include "support/catch.hpp"
#include "surroundings/live.hpp"

using namespace calibrate;

namespace
{
using Reasons = std::vector<std::string>;

Surroundings quiet_second()
{
    Surroundings what;
    what.seconds = what.watched_seconds = 1;
    what.ticks = 2.5e9;
    what.core.looks = 1000;
    what.core.cycles_per_tick = 1.4;
    what.steal_seconds = 0;
    return what;
}

std::string last_word_of(const std::string &line)
{
    const size_t end = line.find_last_not_of(" \n");
    return line.substr(line.rfind(' ', end) + 1, end - line.rfind(' ', end));
}
} // namespace

TEST_CASE("each disturbance has its reason, and a quiet second has none", "[calibrate][core]")
{
    CHECK(disturbances_of(quiet_second()).empty());
    Surroundings what = quiet_second();
    what.core.shared = 300;
    CHECK(disturbances_of(what) == Reasons{"busy sibling"});
    what = quiet_second();
    what.core.frequency_range = 0.05;
    CHECK(disturbances_of(what) == Reasons{"changing frequency"});
    what = quiet_second();
    what.steal_seconds = 0.04;
    CHECK(disturbances_of(what) == Reasons{"hypervisor"});
    what.seconds = 0.1;
    what.steal_seconds = 0.01; // one step of the kernel's figure
    CHECK(disturbances_of(what).empty());
    what = quiet_second();
    what.gap_seconds = 0.04;
    CHECK(disturbances_of(what) == Reasons{"gaps"});
    what.preemptions = 3;
    CHECK(disturbances_of(what) == Reasons{"other programs"});
}

TEST_CASE("gaps count relative to the time that was watched", "[calibrate][core]")
{
    Surroundings what = quiet_second();
    what.gap_seconds = 0.01;
    CHECK(disturbances_of(what).empty());
    what.watched_seconds = 0.1;
    CHECK(disturbances_of(what) == Reasons{"gaps"});
}

TEST_CASE("the frequency of the core follows from its cycles and the clock", "[calibrate][core]")
{
    CHECK(quiet_second().core_hz() == Approx(3.5e9));
    Surroundings unknown = quiet_second();
    unknown.core.cycles_per_tick = 0;
    CHECK(!unknown.core_hz());
}

TEST_CASE("a watched core reports the time, its looks and starts again", "[calibrate][core]")
{
    CoreWatch core(0);
    core.watch(0.01);
    const Surroundings first = core.take(), second = core.take();
    CHECK(first.core.looks >= 1);
    CHECK(first.core.looks <= 11);
    CHECK(first.seconds >= 0.009);
    CHECK(first.watched_seconds >= 0.009);
    CHECK(first.ticks > 0);
    CHECK(second.core.looks == 0);
    CHECK(second.gaps == 0);
    CHECK(second.watched_seconds == 0);
}

TEST_CASE("a second is one line, and one object", "[calibrate][core]")
{
    Surroundings what = quiet_second();
    what.core.shared = 500;
    const std::string line = live_line(3, what);
    CHECK(line.find("50 %") != std::string::npos);
    CHECK(line.find("3.500") != std::string::npos);
    CHECK(last_word_of(line) == "sibling");
    CHECK(line.find('\n') == line.size() - 1);
    const auto json = nlohmann::json::parse(live_json(3, 1, what));
    CHECK(json["second"] == 3);
    CHECK(json["cpu"] == 1);
    CHECK(json["shared"] == 0.5);
    CHECK(json["disturbed_by"] == nlohmann::json::array({"busy sibling"}));
    what.steal_seconds.reset();
    CHECK(nlohmann::json::parse(live_json(3, 1, what))["steal_seconds"].is_null());
}
