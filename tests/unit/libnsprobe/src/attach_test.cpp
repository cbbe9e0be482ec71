// SPDX-License-Identifier: MIT
// Recording a running program: attach, detach, attach again; and which programs refuse.
#include "support/catch.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "child_program.hpp"
#include "support/probe_session.hpp"

#include <nsprobe/recorder.h>

extern "C" {
#include "recorder/attach.h"
}

using namespace std::chrono_literals;

namespace
{
struct Recording {
    int attached = 0;
    std::string words;
    nsp_session_counts counts{};
    nsp_recorder_status status{};
    test_support::Trace trace;
    bool has_file = false;
};

Recording record(int pid, std::chrono::milliseconds duration)
{
    test_support::TempDir dir;
    const std::string output = (dir / "t.nsl").string();
    nsp_session_config config{};
    config.struct_size = sizeof config;
    config.output = output.c_str();
    config.no_calibration = 1;
    Recording result;
    nsp_recorder *recorder;
    REQUIRE(nsp_recorder_open(&config, &recorder) == 0);
    result.attached = nsp_recorder_attach(recorder, pid);
    result.words = result.attached ? nsp_last_error() : "";
    const auto until = std::chrono::steady_clock::now() + duration;
    while (!result.attached && std::chrono::steady_clock::now() < until) {
        nsp_recorder_pass(recorder);
        std::this_thread::sleep_for(1ms);
    }
    nsp_recorder_status_read(recorder, &result.status);
    CHECK(nsp_recorder_close(recorder, NSLICE_END_INTERRUPTED, &result.counts) ==
          (result.attached ? -ENODATA : 0));
    if (!result.attached)
        result.trace = test_support::read_trace(output);
    result.has_file = std::filesystem::exists(output);
    return result;
}

void check_recording(const Recording &one)
{
    INFO(one.words);
    REQUIRE(one.attached == 0);
    REQUIRE(one.trace.complaint() == "");
    CHECK(one.trace.footer.end == NSLICE_END_INTERRUPTED);
    CHECK(one.status.joined == 1);
    CHECK(one.counts.drained > 100);
    CHECK(one.counts.issued == one.counts.drained + test_support::lost_sum(one.counts));
    CHECK(one.trace.records.size() == one.counts.drained);
    // Units follow one another without a gap: nothing was missed between attach and detach.
    std::vector<uint64_t> units;
    for (const auto &record : one.trace.records)
        if (record.kind == NSLICE_KIND_INIT && one.trace.name(record) == "unit")
            units.push_back(record.word[0]);
    std::sort(units.begin(), units.end()); // the program may change its CPU, and the records of a
                                           // CPU are stored together
    REQUIRE(units.size() > 25);
    CHECK(units.back() - units.front() == units.size() - 1);
}
} // namespace

TEST_CASE("a program that accepts recorders is recorded, released, and recorded again",
          "[libnsprobe][attach]")
{
    ChildProgram program({ATTACHABLE, "-"}, {{"NETSLICE", "attach=yes"}});
    REQUIRE(program.line() == "ready");
    check_recording(record(program.pid(), 300ms));
    std::this_thread::sleep_for(50ms);
    check_recording(record(program.pid(), 300ms));
    CHECK(program.end(SIGTERM) == 0);
}

TEST_CASE("a program may accept recorders from its own code", "[libnsprobe][attach]")
{
    ChildProgram program({ATTACHABLE, "attach=yes"});
    REQUIRE(program.line() == "ready");
    check_recording(record(program.pid(), 200ms));
}

TEST_CASE("a child accepts recorders as soon as fork() returns", "[libnsprobe][attach]")
{
    ChildProgram program({ATTACHABLE, "attach=yes", "200", "children"});
    CHECK(program.line() == "200");
}

TEST_CASE("a program that does not accept recorders is left alone, and the error says what to do",
          "[libnsprobe][attach]")
{
    ChildProgram program({ATTACHABLE, "-"});
    REQUIRE(program.line() == "ready");
    const Recording one = record(program.pid(), 0ms);
    CHECK(one.attached == -ECONNREFUSED);
    CHECK_THAT(one.words, Catch::Contains("process " + std::to_string(program.pid()) +
                                          ": does not accept recorders: ") &&
                              Catch::Contains("NETSLICE=attach=yes"));
    CHECK_FALSE(one.has_file);
    CHECK(program.end(SIGTERM) == 0);
}

TEST_CASE("a process that poses as another one is not given the session", "[libnsprobe][attach]")
{
    ChildProgram program({ATTACHABLE, "-"});
    REQUIRE(program.line() == "ready");
    sockaddr_un address;
    const socklen_t bytes = nsp_attach_address(program.pid(), &address);
    const int listener = socket(AF_UNIX, SOCK_SEQPACKET, 0);
    REQUIRE(bind(listener, reinterpret_cast<sockaddr *>(&address), bytes) == 0);
    REQUIRE(listen(listener, 1) == 0);
    const Recording one = record(program.pid(), 0ms);
    CHECK(one.attached == -EACCES);
    CHECK_THAT(one.words, Catch::Contains("another process"));
    close(listener);
}

TEST_CASE("however abruptly a recorder ends, the program keeps running and accepts the next one",
          "[libnsprobe][attach]")
{
    ChildProgram program({ATTACHABLE, "-"}, {{"NETSLICE", "attach=yes"}});
    REQUIRE(program.line() == "ready");
    const pid_t recorder = fork();
    if (recorder == 0) {
        nsp_session_config config{};
        config.struct_size = sizeof config;
        config.output = "/dev/null";
        config.no_calibration = 1;
        nsp_recorder *made;
        if (nsp_recorder_open(&config, &made) || nsp_recorder_attach(made, program.pid()))
            _exit(1);
        raise(SIGKILL);
    }
    int status = 0;
    waitpid(recorder, &status, 0);
    REQUIRE(WIFSIGNALED(status));
    std::this_thread::sleep_for(50ms);
    check_recording(record(program.pid(), 200ms));
    CHECK(program.end(SIGTERM) == 0);
}

TEST_CASE("a second recorder learns immediately that there is a first", "[libnsprobe][attach]")
{
    ChildProgram program({ATTACHABLE, "-"}, {{"NETSLICE", "attach=yes"}});
    REQUIRE(program.line() == "ready");
    Recording second;
    std::thread first([&] { check_recording(record(program.pid(), 400ms)); });
    std::this_thread::sleep_for(150ms);
    const auto begin = std::chrono::steady_clock::now();
    second = record(program.pid(), 0ms);
    CHECK(std::chrono::steady_clock::now() - begin < 2s);
    first.join();
    CHECK(second.attached == -EBUSY);
    CHECK_THAT(second.words, Catch::Contains("already being recorded"));
}

TEST_CASE("a program with its own session refuses a recorder, and its session continues",
          "[libnsprobe][attach]")
{
    test_support::TempDir dir;
    const std::string own = (dir / "own.nsl").string();
    ChildProgram program({ATTACHABLE, "output=" + own, "0", "attach=yes"});
    REQUIRE(program.line() == "ready");
    const Recording one = record(program.pid(), 0ms);
    CHECK(one.attached == -EBUSY);
    CHECK_THAT(one.words, Catch::Contains("already in another session"));
    CHECK_FALSE(one.has_file);
    CHECK(program.end(SIGTERM) == 0);
    CHECK(test_support::read_trace(own).complaint() == "");
}
