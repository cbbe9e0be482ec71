// SPDX-License-Identifier: MIT
// Control of a running program: other slices recorded from now on, or a reason why not.
#include "support/catch.hpp"

#include <cerrno>
#include <chrono>
#include <thread>

#include "child_program.hpp"
#include "support/record_reader.hpp"
#include "support/temp_dir.hpp"

#include <nsprobe/recorder.h>

using namespace std::chrono_literals;

namespace
{
std::string as_own_session(const test_support::TempDir &dir)
{
    return "calibration=no control=yes output=" + (dir / "t.nsl").string();
}

uint64_t last_ticks(const test_support::Trace &trace, const std::string &name)
{
    uint64_t last = 0;
    for (const auto &record : trace.records)
        if (trace.name(record) == name)
            last = std::max(last, record.ticks);
    return last;
}
} // namespace

TEST_CASE("the selection of a program's own session changes while it runs, and the trace has it",
          "[libnsprobe][control]")
{
    test_support::TempDir dir;
    ChildProgram program({ATTACHABLE, "-"}, {{"NETSLICE", as_own_session(dir)}});
    REQUIRE(program.line() == "ready");
    std::this_thread::sleep_for(50ms);
    REQUIRE(nsp_control_slices(program.pid(), "none") == 0);
    CHECK(nsp_last_error() == std::string("slices: no slice or mark matches \"none\"; available: "
                                          "work\n"));
    std::this_thread::sleep_for(100ms);
    CHECK(program.end(SIGTERM) == 0);
    const auto trace = test_support::read_trace(dir / "t.nsl");
    REQUIRE(trace.complaint() == "");
    CHECK(trace.info.at("session.slices") == "none");
    const uint64_t work = last_ticks(trace, "work"), unit = last_ticks(trace, "unit");
    CHECK(work > 0);
    CHECK(unit - work > 1'000'000); // ticks: units went on without slices
}

TEST_CASE("slices that were off can be switched on", "[libnsprobe][control]")
{
    test_support::TempDir dir;
    ChildProgram program({ATTACHABLE, "-"}, {{"NETSLICE", as_own_session(dir) + " slices=none"}});
    REQUIRE(program.line() == "ready");
    REQUIRE(nsp_control_slices(program.pid(), "w*,!work,x,!y") == 0);
    CHECK(nsp_last_error() ==
          std::string("slices: no slice or mark matches \"x\"; available: work\n"
                      "slices: no slice or mark matches \"!y\"; available: "
                      "work\n"));
    REQUIRE(nsp_control_slices(program.pid(), "") == 0);
    CHECK(nsp_last_error() == std::string());
    std::this_thread::sleep_for(50ms);
    CHECK(program.end(SIGTERM) == 0);
    CHECK(last_ticks(test_support::read_trace(dir / "t.nsl"), "work") > 0);
}

TEST_CASE("invalid rules are rejected, and a process without a session refuses valid ones",
          "[libnsprobe][control]")
{
    CHECK(nsp_control_slices(getpid(), "a,,b") == -EINVAL);
    CHECK_THAT(nsp_last_error(), Catch::Contains("empty pattern"));
    CHECK(nsp_control_slices(getpid(), "a") == -ECONNREFUSED);
    CHECK_THAT(nsp_last_error(), Catch::Contains(": does not accept control requests: ") &&
                                     Catch::Contains("nsdump record --control"));
    constexpr int kNoPid = 1 << 30; // above the kernel's limit
    CHECK(nsp_control_slices(kNoPid, "a") == -ESRCH);
    CHECK(nsp_last_error() == "process " + std::to_string(kNoPid) + ": No such process");
    ChildProgram program({ATTACHABLE, "-"}, {{"NETSLICE", "attach=yes"}});
    REQUIRE(program.line() == "ready");
    CHECK(nsp_control_slices(program.pid(), "a") == -ENOENT);
    CHECK_THAT(nsp_last_error(), Catch::Contains("refused: ") && Catch::Contains("no session"));
}

TEST_CASE("a program with a session of its own still refuses recorders", "[libnsprobe][control]")
{
    test_support::TempDir dir;
    ChildProgram program({ATTACHABLE, "-"}, {{"NETSLICE", as_own_session(dir)}});
    REQUIRE(program.line() == "ready");
    nsp_session_config config{};
    config.struct_size = sizeof config;
    config.output = "/dev/null";
    config.no_calibration = 1;
    nsp_recorder *recorder = nullptr;
    REQUIRE(nsp_recorder_open(&config, &recorder) == 0);
    CHECK(nsp_recorder_attach(recorder, program.pid()) == -EPERM);
    CHECK_THAT(nsp_last_error(), Catch::Contains("NETSLICE=attach=yes"));
    nsp_recorder_close(recorder, NSLICE_END_INTERRUPTED, nullptr);
    CHECK(program.end(SIGTERM) == 0);
}
