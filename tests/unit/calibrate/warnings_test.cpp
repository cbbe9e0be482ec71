// SPDX-License-Identifier: MIT
#include "report/warnings.hpp"

#include <algorithm>
#include <cstring>

#include "support/catch.hpp"

using namespace calibrate;

namespace
{
// A machine and a run that give no reason for a warning.
Environment quiet_machine()
{
    Environment env;
    env.machine = {"x86_64", "tsc", "tsc", "Some CPU", "none", 1};
    env.cpu = 2;
    env.governor = "performance";
    env.clock_source = "tsc";
    env.is_smt_active = false;
    env.is_turbo_on = false;
    env.load_1min = 0.1;
    return env;
}

RunFacts quiet_run()
{
    RunFacts facts;
    facts.seconds = 3;
    facts.hz = 2.6e9;
    facts.step_ticks = 1;
    facts.has_pmu_counters = true;
    return facts;
}

// The only warning; its text must contain the words.
void check_one(const Environment &env, const RunFacts &facts, const std::string &words,
               bool spoils = false)
{
    const auto warnings = warnings_for(env, facts);
    REQUIRE(warnings.size() == 1);
    INFO(warnings[0].text);
    CHECK(warnings[0].text.find(words) != std::string::npos);
    CHECK(warnings[0].spoils_result == spoils);
}
} // namespace

TEST_CASE("a quiet machine gives no warning", "[calibrate][warnings]")
{
    CHECK(warnings_for(quiet_machine(), quiet_run()).empty());
}

TEST_CASE("a clock whose rate may change invalidates the result", "[calibrate][warnings]")
{
    Environment env = quiet_machine();
    env.machine.clock_is_invariant = 0;
    check_one(env, quiet_run(), "not invariant", true);
}

TEST_CASE("a build with a sanitizer invalidates the result", "[calibrate][warnings]")
{
    Environment env = quiet_machine();
    env.sanitizer = "address";
    check_one(env, quiet_run(), "address sanitizer", true);
}

TEST_CASE("counts that should be exact and are not invalidate the result", "[calibrate][warnings]")
{
    RunFacts facts = quiet_run();
    facts.is_counting_exact = false;
    check_one(quiet_machine(), facts, "instruction counts differ", true);
}

TEST_CASE("a record that is lost and not counted invalidates the result", "[calibrate][warnings]")
{
    RunFacts facts = quiet_run();
    facts.has_loss_equation = false;
    check_one(quiet_machine(), facts, "neither drained nor counted", true);
}

TEST_CASE("a coarse clock is reported with its step in ns", "[calibrate][warnings]")
{
    RunFacts facts = quiet_run();
    facts.step_ticks = 8;
    CHECK(warnings_for(quiet_machine(), facts).empty());
    facts.step_ticks = 26;
    check_one(quiet_machine(), facts, "26.0 ticks (10.0 ns)");
}

TEST_CASE("a virtual machine is reported with the steal time seen", "[calibrate][warnings]")
{
    Environment env = quiet_machine();
    RunFacts facts = quiet_run();
    std::strcpy(env.machine.hypervisor, "KVM");
    check_one(env, facts, "KVM");
    facts.steal_seconds = 0.25;
    check_one(env, facts, "250 ms");
}

TEST_CASE("whatever changes the core's frequency is reported with its remedy",
          "[calibrate][warnings]")
{
    Environment env = quiet_machine();
    env.governor = "schedutil";
    check_one(env, quiet_run(), "-g performance");
    env = quiet_machine();
    env.is_turbo_on = true;
    check_one(env, quiet_run(), "no_turbo");
    env = quiet_machine();
    env.governor.reset();
    env.is_turbo_on.reset();
    CHECK(warnings_for(env, quiet_run()).empty());
}

TEST_CASE("a kernel that uses another clock source hints at an unstable clock",
          "[calibrate][warnings]")
{
    Environment env = quiet_machine();
    env.clock_source = "hpet";
    check_one(env, quiet_run(), "clock source is hpet");
}

TEST_CASE("load and siblings do not matter on an isolated CPU", "[calibrate][warnings]")
{
    Environment env = quiet_machine();
    env.load_1min = 3;
    check_one(env, quiet_run(), "load was 3.00");
    env.is_smt_active = true;
    CHECK(warnings_for(env, quiet_run()).size() == 2);
    env.is_isolated = true;
    CHECK(warnings_for(env, quiet_run()).empty());
}

TEST_CASE("a warning about wide figures names the worst", "[calibrate][warnings]")
{
    RunFacts facts = quiet_run();
    facts.wide_figures = 2;
    facts.worst_spread = 0.31;
    facts.worst_figure = "MARK fast rseq none";
    check_one(quiet_machine(), facts, "MARK fast rseq none, 31 %");
}

TEST_CASE("preemption and passes left out are reported", "[calibrate][warnings]")
{
    RunFacts facts = quiet_run();
    facts.preemptions = 12;
    check_one(quiet_machine(), facts, "12 times");
    facts = quiet_run();
    facts.dropped_passes = 3;
    check_one(quiet_machine(), facts, "3 passes");
}

TEST_CASE("without a PMU, the warning says what works instead", "[calibrate][warnings]")
{
    RunFacts facts = quiet_run();
    facts.has_pmu_counters = false;
    check_one(quiet_machine(), facts, "time only");
    facts.has_step_counter = true;
    check_one(quiet_machine(), facts, "source=step");
}

TEST_CASE("a shared core, a changing frequency and disturbed passes are reported",
          "[calibrate][warnings]")
{
    RunFacts facts = quiet_run();
    facts.shared_share = 0.3;
    check_one(quiet_machine(), facts, "used its core in 30 % of the looks");
    facts = quiet_run();
    facts.frequency_range = 0.025;
    check_one(quiet_machine(), facts, "frequency changed by 2.5 %");
    facts = quiet_run();
    facts.repeated_passes = 5;
    facts.disturbed_passes = 2;
    facts.disturbances = "busy sibling";
    check_one(quiet_machine(), facts,
              "5 passes were repeated and 2 that were used are disturbed (busy sibling)");
}
