// SPDX-License-Identifier: MIT
#include "common/command/signals.h"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

#include "support/catch.hpp"

namespace
{
// Exit code of a child that catches interrupts and then runs `body`, or the negated number of the
// signal that ended it.
template <class Body> int in_child(Body body)
{
    const pid_t child = fork();
    if (child == 0) {
        command_catch_interrupts();
        command_ignore_write_signals();
        _exit(body());
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}
} // namespace

TEST_CASE("each signal that asks a program to end sets a flag", "[command][signals]")
{
    for (const int number : {SIGINT, SIGTERM, SIGHUP})
        CHECK(in_child([number] {
                  raise(number);
                  return command_was_interrupted() ? 0 : 1;
              }) == 0);
}

TEST_CASE("the same Ctrl-C received twice counts once, and a later one ends the program",
          "[command][signals]")
{
    CHECK(in_child([] {
              raise(SIGINT);
              raise(SIGINT);
              raise(SIGTERM);
              return 0;
          }) == 0);
    CHECK(in_child([] {
              raise(SIGINT);
              command_pause(1100);
              raise(SIGINT);
              return 0;
          }) == -SIGINT);
}

TEST_CASE("a program under nohup ignores SIGHUP", "[command][signals]")
{
    std::signal(SIGHUP, SIG_IGN);
    CHECK(in_child([] {
              raise(SIGHUP);
              return command_was_interrupted() ? 1 : 0;
          }) == 0);
    std::signal(SIGHUP, SIG_DFL);
}

TEST_CASE("a closed pipe is a write error, and a started program gets the default signal back",
          "[command][signals]")
{
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    close(ends[0]);
    CHECK(in_child([&] { return write(ends[1], "x", 1) < 0 && errno == EPIPE ? 0 : 1; }) == 0);
    CHECK(in_child([&] {
              command_restore_write_signals();
              return write(ends[1], "x", 1) < 0 ? 1 : 2;
          }) == -SIGPIPE);
    close(ends[1]);
}
