// SPDX-License-Identifier: MIT
#include "cli/record/child.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <sys/wait.h>
#include <unistd.h>

#include "common/command/signals.h"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using nsdump::Child;

namespace
{
constexpr useconds_t kMoment_us = 50000;

int nothing()
{
    return 0;
}

std::vector<std::string> makes(const std::filesystem::path &file)
{
    return {"/bin/sh", "-c", "echo ran >" + file.string() + "; exit 7"};
}

int status_of(Child &child)
{
    for (;;)
        if (const auto status = child.poll())
            return *status;
}
} // namespace

TEST_CASE("a program does not run before it is started", "[nsdump][child]")
{
    test_support::TempDir dir;
    Child child(makes(dir / "made"), nothing);
    usleep(kMoment_us);
    CHECK_FALSE(std::filesystem::exists(dir / "made"));
    CHECK(child.pid() > 0);
    CHECK_FALSE(child.poll());
    child.run();
    CHECK(WEXITSTATUS(status_of(child)) == 7);
    CHECK(std::filesystem::exists(dir / "made"));
}

TEST_CASE("a program that is never started ends without having run, even if it was stopped",
          "[nsdump][child]")
{
    test_support::TempDir dir;
    pid_t pid;
    {
        Child child(makes(dir / "made"), nothing);
        pid = child.pid();
        kill(pid, SIGSTOP);
    }
    CHECK(kill(pid, 0) != 0);
    CHECK_FALSE(std::filesystem::exists(dir / "made"));
}

TEST_CASE("a waiting program ends with the process that would start it", "[nsdump][child]")
{
    test_support::TempDir dir;
    int pids[2];
    REQUIRE(pipe(pids) == 0);
    const pid_t starter = fork();
    if (starter == 0) {
        Child child(makes(dir / "made"), nothing);
        const pid_t pid = child.pid();
        _exit(write(pids[1], &pid, sizeof pid) !=
              sizeof pid); // without its destructor, as if it had been killed
    }
    pid_t pid = 0;
    REQUIRE(read(pids[0], &pid, sizeof pid) == sizeof pid);
    waitpid(starter, nullptr, 0);
    const auto is_there = [pid] { // its new parent may not have reaped it yet
        char state[64] = {};
        FILE *file = fopen(("/proc/" + std::to_string(pid) + "/stat").c_str(), "r");
        const bool lives = file && fscanf(file, "%*d %*s %63s", state) == 1 && state[0] != 'Z';
        if (file)
            fclose(file);
        return lives;
    };
    for (int i = 0; i < 200 && is_there(); ++i)
        usleep(kMoment_us);
    CHECK_FALSE(is_there());
    CHECK_FALSE(std::filesystem::exists(dir / "made"));
    close(pids[0]);
    close(pids[1]);
}

TEST_CASE("a signal ends a waiting program even if its parent catches the signal",
          "[nsdump][child]")
{
    command_catch_interrupts();
    command_ignore_write_signals();
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        int ready[2];
        char word = 0;
        REQUIRE(pipe(ready) == 0);
        Child child({"/bin/sh", "-c", "exit 7"},
                    [&] { return write(ready[1], "", 1) == 1 ? 0 : -EIO; });
        REQUIRE(read(ready[0], &word, 1) == 1); // it has its own signal handlers
        close(ready[0]);
        close(ready[1]);
        kill(child.pid(), number);
        const int status = status_of(child);
        CHECK(WIFSIGNALED(status));
        CHECK(WTERMSIG(status) == number);
        child.run(); // the process is gone
        CHECK(child.poll() == status);
    }
}

TEST_CASE("a program that cannot be started is reported, whatever the reason", "[nsdump][child]")
{
    Child missing({"./no-such-program"}, nothing);
    CHECK_THROWS_WITH(
        missing.run(),
        "./no-such-program: cannot start: No such file or directory (check the name)");
    CHECK_FALSE(missing.poll());
    Child folder({"/"}, nothing);
    CHECK_THROWS_WITH(folder.run(), "/: is a directory (specify a program in it)");
    Child unprepared({"/bin/true"}, [] { return -ENOMEM; });
    try {
        unprepared.run();
        FAIL("it ran");
    } catch (const std::system_error &error) {
        CHECK(error.code().value() == ENOMEM);
    }
}
