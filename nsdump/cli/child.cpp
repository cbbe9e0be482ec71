// SPDX-License-Identifier: MIT
// cli: command line -> a running program; a failed exec comes back through a pipe that closes on success.
#include "cli/child.hpp"

#include <cerrno>
#include <csignal>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "command/signals.h"

namespace nsdump
{
namespace
{
[[noreturn]] void run_program(const std::vector<std::string> &argv, const std::function<int()> &prepare, int report)
{
    std::vector<char *> arguments;
    for (const std::string &argument : argv)
        arguments.push_back(const_cast<char *>(argument.c_str()));
    arguments.push_back(nullptr);
    command_restore_write_signals(); // exec() sets those that are caught back by itself
    int error = -prepare();
    if (error == 0) {
        execvp(arguments[0], arguments.data());
        error = errno;
    }
    [[maybe_unused]] const ssize_t ignored = write(report, &error, sizeof(error));
    _exit(127);
}
} // namespace

Child::Child(const std::vector<std::string> &argv, const std::function<int()> &prepare)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC) != 0)
        throw std::system_error(errno, std::generic_category(), "pipe");
    pid_ = fork();
    if (pid_ < 0) {
        const int error = errno;
        close(report[0]);
        close(report[1]);
        throw std::system_error(error, std::generic_category(), "fork");
    }
    if (pid_ == 0)
        run_program(argv, prepare, report[1]);
    close(report[1]);
    int error = 0;
    ssize_t got;
    while ((got = read(report[0], &error, sizeof(error))) < 0 && errno == EINTR)
        ;
    close(report[0]);
    if (got == static_cast<ssize_t>(sizeof(error))) {
        waitpid(pid_, nullptr, 0);
        throw std::system_error(error, std::generic_category(), "cannot start " + argv[0]);
    }
}

Child::~Child()
{
    poll();
}

std::optional<int> Child::poll()
{
    int status;
    if (!status_ && waitpid(pid_, &status, WNOHANG) == pid_)
        status_ = status;
    return status_;
}

void Child::terminate()
{
    if (!poll())
        kill(pid_, SIGTERM);
}

RunningProcess::RunningProcess(pid_t pid) : fd_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0)))
{
    if (fd_ < 0)
        throw std::system_error(errno, std::generic_category(), "process " + std::to_string(pid));
}

RunningProcess::~RunningProcess()
{
    close(fd_);
}

bool RunningProcess::has_ended() const
{
    pollfd event = {fd_, POLLIN, 0};
    return ::poll(&event, 1, 0) == 1;
}
} // namespace nsdump
