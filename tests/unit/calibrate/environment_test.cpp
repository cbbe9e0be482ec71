// SPDX-License-Identifier: MIT
#include "report/environment.hpp"

#include <unistd.h>

#include <fstream>

#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace calibrate;

namespace
{
void put(const std::filesystem::path &path, const std::string &text)
{
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

const nsp_machine kMachine = {"x86_64", "tsc", "tsc", "Some CPU", "none", 1};
} // namespace

TEST_CASE("the context is read from /proc and /sys", "[calibrate][environment]")
{
    const test_support::TempDir root;
    const auto cpus = root / "sys/devices/system/cpu";
    put(root / "proc/loadavg", "1.25 0.5 0.1 1/100 4711\n");
    put(cpus / "cpu3/cpufreq/scaling_governor", "powersave\n");
    put(cpus / "cpu0/cpufreq/scaling_governor", "performance\n");
    put(cpus / "smt/active", "1\n");
    put(cpus / "isolated", "2-3\n");
    put(cpus / "cpufreq/boost", "0\n");
    put(root / "sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet\n");

    const Environment env = read_environment(root.path(), 3, kMachine);
    CHECK(env.load_1min == 1.25);
    CHECK(env.governor == "powersave");
    CHECK(env.is_smt_active == true);
    CHECK(env.is_turbo_on == false);
    CHECK(env.is_isolated);
    CHECK(env.clock_source == "hpet");
    CHECK(env.cpu == 3);
    CHECK(std::string(env.machine.clock) == "tsc");
}

TEST_CASE("what the machine does not report is absent, not guessed", "[calibrate][environment]")
{
    const test_support::TempDir root;
    const Environment env = read_environment(root.path(), 0, kMachine);
    CHECK_FALSE(env.governor);
    CHECK_FALSE(env.clock_source);
    CHECK_FALSE(env.is_smt_active);
    CHECK_FALSE(env.is_turbo_on);
    CHECK_FALSE(env.is_isolated);
    CHECK_FALSE(read_steal_seconds(root.path(), 0));
}

TEST_CASE("no_turbo is reported inverted", "[calibrate][environment]")
{
    const test_support::TempDir root;
    put(root / "sys/devices/system/cpu/intel_pstate/no_turbo", "0\n");
    CHECK(read_environment(root.path(), 0, kMachine).is_turbo_on == true);
    put(root / "sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
    CHECK(read_environment(root.path(), 0, kMachine).is_turbo_on == false);
}

TEST_CASE("steal time is that of the requested CPU", "[calibrate][environment]")
{
    const test_support::TempDir root;
    put(root / "proc/stat", "cpu  9 9 9 9 9 9 9 900 0 0\n"
                            "cpu1 1 2 3 4 5 6 7 150 0 0\n"
                            "cpu10 1 2 3 4 5 6 7 999 0 0\n"
                            "cpu2 1 2 3\n");
    const auto per_second = double(sysconf(_SC_CLK_TCK));
    CHECK(read_steal_seconds(root.path(), 1) == 150 / per_second);
    CHECK(read_steal_seconds(root.path(), 10) == 999 / per_second);
    CHECK_FALSE(read_steal_seconds(root.path(), 2)); // a kernel too old to report it
    CHECK_FALSE(read_steal_seconds(root.path(), 7));
}

TEST_CASE("CPU lists are numbers and ranges", "[calibrate][environment]")
{
    CHECK(cpu_list_has("0,2-5,9", 0));
    CHECK(cpu_list_has("0,2-5,9", 4));
    CHECK(cpu_list_has("0,2-5,9", 9));
    CHECK_FALSE(cpu_list_has("0,2-5,9", 1));
    CHECK_FALSE(cpu_list_has("0,2-5,9", 6));
    CHECK_FALSE(cpu_list_has("", 0));
    CHECK_FALSE(cpu_list_has("(null)", 0));
}
