// SPDX-License-Identifier: MIT
// Which processes participate in a recorder's session, whatever they have closed.
#include "support/catch.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <functional>
#include <string>

#include <nsprobe/recorder.h>

#include "support/probe_session.hpp"

namespace
{
nsp_recorder *open_recorder()
{
    nsp_session_config config{};
    config.struct_size = sizeof config;
    config.output = "/dev/null";
    nsp_recorder *recorder = nullptr;
    REQUIRE(nsp_recorder_open(&config, &recorder) == 0);
    return recorder;
}

// The participation of a child that has done this and waits.
int part_of_child(nsp_recorder *recorder, const std::function<void()> &begin)
{
    int ready[2];
    REQUIRE(pipe(ready) == 0);
    const pid_t child = fork();
    if (child == 0) {
        begin();
        _exit(127);
    }
    close(ready[1]); // closed in the child by this line
    char byte;
    REQUIRE(read(ready[0], &byte, 1) == 0);
    close(ready[0]);
    usleep(20000); // exec() follows immediately
    const int part = nsp_recorder_part_of(recorder, child);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    return part;
}

void wait_for_ever()
{
    for (;;)
        pause();
}
} // namespace

TEST_CASE("a child of fork() participates even after it has closed everything",
          "[libnsprobe][part]")
{
    nsp_recorder *recorder = open_recorder();
    CHECK(part_of_child(recorder, [] {
              close_range(3, ~0u, 0);
              wait_for_ever();
          }) == NSP_PART_TAKEN);
    nsp_recorder_close(recorder, NSLICE_END_CLOSED, nullptr);
}

TEST_CASE("a program that inherited the descriptor may participate, one that did not cannot",
          "[libnsprobe][part]")
{
    nsp_recorder *recorder = open_recorder();
    const auto become_sleep = [&](bool inherits) {
        if (inherits)
            nsp_recorder_prepare_exec(recorder);
        for (int fd = 3; fd < 64; ++fd) // including the test's pipe
            if (!inherits || std::getenv("NETSLICE_SESSION_FD") != std::to_string(fd))
                close(fd);
        execl("/bin/sleep", "sleep", "60", nullptr);
    };
    const auto part_after_exec = [&](bool inherits) {
        int part = NSP_PART_TAKEN; // until exec() has finished
        for (int i = 0; i < 100 && part == NSP_PART_TAKEN; ++i)
            part = part_of_child(recorder, [&] { become_sleep(inherits); });
        return part;
    };
    CHECK(part_after_exec(true) == NSP_PART_POSSIBLE);
    CHECK(part_after_exec(false) == NSP_PART_NONE);
    nsp_recorder_close(recorder, NSLICE_END_CLOSED, nullptr);
}

TEST_CASE("neither a member of another session nor a process that has ended participates",
          "[libnsprobe][part]")
{
    nsp_recorder *mine = open_recorder();
    int status;
    const pid_t ended = fork();
    if (ended == 0)
        _exit(0);
    waitpid(ended, &status, 0);
    CHECK(nsp_recorder_part_of(mine, ended) == -ENOENT);
    const pid_t child = fork(); // before the other session exists
    if (child == 0)
        wait_for_ever();
    nsp_recorder *other = open_recorder();
    CHECK(nsp_recorder_part_of(mine, child) == NSP_PART_TAKEN);
    CHECK(nsp_recorder_part_of(other, child) == NSP_PART_NONE);
    kill(child, SIGKILL);
    waitpid(child, &status, 0);
    nsp_recorder_close(other, NSLICE_END_CLOSED, nullptr);
    nsp_recorder_close(mine, NSLICE_END_CLOSED, nullptr);
}
