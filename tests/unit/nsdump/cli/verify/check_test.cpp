// SPDX-License-Identifier: MIT
#include "cli/verify/check.hpp"

#include <algorithm>
#include <fstream>

#include <nsprobe/counters.h>

#include "cli/verify/verify.hpp"
#include "support/catch.hpp"
#include "support/requires.hpp"
#include "support/temp_dir.hpp"

using namespace nsdump::verify;

namespace
{
const Check &check_named(const std::string &name)
{
    for (const Check &check : all_checks())
        if (check.name == name)
            return check;
    throw std::runtime_error("no check " + name);
}

// Single-stepping counts exactly wherever the program runs.
bool can_step()
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) || defined(NETSLICE_DISABLE)
    test_support::skip("the probes of this build are not those of users");
    return false;
#endif
    if (nsp_source_try(NSP_SOURCE_STEP, "instructions") == 0)
        return true;
    test_support::skip(nsp_last_error());
    return false;
}

std::string value_of(const Facts &facts, const std::string &name)
{
    const auto is_it = [&](const auto &fact) { return fact.first == name; };
    const auto found = std::find_if(facts.begin(), facts.end(), is_it);
    return found == facts.end() ? "absent" : found->second;
}

void write(const std::filesystem::path &path, const std::string &text)
{
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text << '\n';
}
} // namespace

TEST_CASE("every instruction of known code is counted, if the counter is exact", "[nsdump][verify]")
{
    if (!can_step())
        return;
    const Check &check = check_named("exact");
    const Outcome outcome = run_check(check, NSP_SOURCE_STEP, truth_of(check, NSP_SOURCE_STEP));
    INFO(outcome.text);
    CHECK(outcome.verdict == Verdict::kPassed);
}

TEST_CASE("a count that differs by one instruction is reported", "[nsdump][verify]")
{
    if (!can_step())
        return;
    const Check &check = check_named("exact");
    for (const double error : {-1.0, 1.0}) {
        Truth truth = truth_of(check, NSP_SOURCE_STEP);
        truth.at("known_100") += error;
        const Outcome outcome = run_check(check, NSP_SOURCE_STEP, truth);
        INFO(outcome.text);
        CHECK(outcome.verdict == Verdict::kFailed);
        CHECK(outcome.expected == 100 + error);
        CHECK(outcome.measured == 100);
    }
}

TEST_CASE("a refused session is unavailable, with the reason", "[nsdump][verify]")
{
    const Check &check = check_named("overflow");
    const Outcome outcome = run_check(check, NSP_SOURCE_STEP, truth_of(check, NSP_SOURCE_STEP));
    CHECK(outcome.verdict == Verdict::kUnavailable);
    if (nsp_source_try(NSP_SOURCE_RDPMC, "instructions") == 0)
        return; // this machine has a PMU
    const Outcome refused =
        run_check(check_named("exact"), NSP_SOURCE_RDPMC, truth_of(check, NSP_SOURCE_RDPMC));
    CHECK(refused.verdict == Verdict::kUnavailable);
    CHECK(refused.text.find("counter \"instructions\"") != std::string::npos);
}

TEST_CASE("a report fails if one check failed, and passes only if one passed", "[nsdump][verify]")
{
    const Check &check = check_named("exact");
    const auto result = [&](Verdict verdict) { return CheckResult{&check, {verdict, "", {}, {}}}; };
    const CheckResult passed = result(Verdict::kPassed), failed = result(Verdict::kFailed),
                      unavailable = result(Verdict::kUnavailable);
    const auto verdict_of = [](const std::vector<CheckResult> &checks) {
        return Report{{}, {{"rdpmc", "", checks}, {"perf-read", "no PMU", {}}}}.verdict();
    };
    CHECK(verdict_of({}) == Verdict::kUnavailable);
    CHECK(verdict_of({unavailable}) == Verdict::kUnavailable);
    CHECK(verdict_of({passed, unavailable}) == Verdict::kPassed);
    CHECK(verdict_of({passed, failed, unavailable}) == Verdict::kFailed);
}

TEST_CASE("the facts name the PMUs of the cores and the kernel's settings", "[nsdump][verify]")
{
    test_support::TempDir dir;
    const std::filesystem::path &root = dir.path();
    const std::filesystem::path devices = root / "sys/bus/event_source/devices";
    CHECK(value_of(read_facts(root), "pmu") == "none");
    CHECK(value_of(read_facts(root), "rdpmc") == "unknown");
    write(devices / "cpu/rdpmc", "1");
    write(devices / "cpu/caps/pmu_name", "skylake");
    write(devices / "software/type", "1");
    write(devices / "armv8_pmuv3/cpus", "0-3");
    write(root / "proc/sys/kernel/perf_event_paranoid", "2");
    const Facts facts = read_facts(root);
    CHECK(value_of(facts, "pmu") == "armv8_pmuv3, cpu (skylake)");
    CHECK(value_of(facts, "rdpmc") == "1");
    CHECK(value_of(facts, "perf_event_paranoid") == "2");
    CHECK(value_of(facts, "nmi_watchdog") == "unknown");
}
