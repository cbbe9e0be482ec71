// SPDX-License-Identifier: MIT
// cli: command line -> a running program; a pipe that closes on success reports a failed exec.
#include "cli/record/child.hpp"

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <system_error>

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/command/signals.h"

namespace nsdump
{
namespace
{
void throw_error(const std::string &what)
{
    throw std::system_error(errno, std::generic_category(), what);
}

[[noreturn]] void throw_cannot_start(const std::string &name, int error)
{
    struct stat status = {};
    if (stat(name.c_str(), &status) == 0 && S_ISDIR(status.st_mode))
        throw std::runtime_error(name + ": is a directory (specify a program in it)");
    const std::string what = (name.empty() ? "\"\"" : name) + ": cannot start";
    if (error == ENOENT)
        throw std::runtime_error(what + ": No such file or directory (check the name)");
    if (error == EACCES)
        throw std::runtime_error(what + ": Permission denied (make it executable: chmod +x)");
    throw std::system_error(error, std::generic_category(), what);
}

// Lets the usual signals end a child that still waits.  (exec() itself resets caught signals.)
void restore_interrupts()
{
    for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
        struct sigaction action = {};
        if (sigaction(number, nullptr, &action) == 0 && action.sa_handler != SIG_IGN)
            signal(number, SIG_DFL);
    }
}

// False: the program is not to run any more.
bool may_run(int go)
{
    char word;
    ssize_t got;
    while ((got = read(go, &word, 1)) < 0 && errno == EINTR)
        ;
    return got == 1;
}

[[noreturn]] void run_program(const std::vector<std::string> &argv,
                              const std::function<int()> &prepare, int go, int report)
{
    std::vector<char *> arguments;
    for (const std::string &argument : argv)
        arguments.push_back(const_cast<char *>(argument.c_str()));
    arguments.push_back(nullptr);
    command_restore_write_signals();
    restore_interrupts();
    int error = -prepare();
    if (!may_run(go))
        _exit(127);
    if (error == 0) {
        execvp(arguments[0], arguments.data());
        error = errno;
    }
    [[maybe_unused]] const ssize_t ignored = write(report, &error, sizeof(error));
    _exit(127);
}

void close_both(const int (&ends)[2])
{
    close(ends[0]);
    close(ends[1]);
}
} // namespace

Child::Child(const std::vector<std::string> &argv, const std::function<int()> &prepare)
    : name_(argv[0])
{
    int go[2], report[2];
    if (pipe2(go, O_CLOEXEC) != 0)
        throw_error(name_ + ": cannot create a pipe");
    if (pipe2(report, O_CLOEXEC) != 0) {
        close_both(go);
        throw_error(name_ + ": cannot create a pipe");
    }
    pid_ = fork();
    if (pid_ < 0) {
        const int error = errno;
        close_both(go);
        close_both(report);
        errno = error;
        throw_error(name_ + ": cannot create a process");
    }
    if (pid_ == 0) {
        close(go[1]); // so that read() reports the end of the pipe if the parent dies
        run_program(argv, prepare, go[0], report[1]);
    }
    close(go[0]);
    close(report[1]);
    go_ = go[1];
    report_ = report[0];
}

void Child::run()
{
    // If the child was killed meanwhile, this write fails and poll() reports how it ended.
    [[maybe_unused]] const ssize_t ignored = write(go_, "", 1);
    close(go_);
    go_ = -1;
    int error = 0;
    ssize_t got;
    while ((got = read(report_, &error, sizeof(error))) < 0 && errno == EINTR)
        ;
    if (got == static_cast<ssize_t>(sizeof(error))) {
        waitpid(pid_, nullptr, 0);
        pid_ = -1;
        throw_cannot_start(name_, error);
    }
}

Child::~Child()
{
    if (go_ >= 0) {
        kill(pid_, SIGKILL); // works even if it is stopped
        waitpid(pid_, nullptr, 0);
        close(go_);
    } else {
        poll();
    }
    close(report_);
}

std::optional<int> Child::poll()
{
    int status;
    if (!status_ && pid_ > 0 && waitpid(pid_, &status, WNOHANG) == pid_)
        status_ = status;
    descendants_.reap(pid_);
    return status_;
}

void Child::terminate()
{
    if (!poll())
        kill(pid_, SIGTERM);
}

RunningProcess::RunningProcess(pid_t pid) : fd_(int(syscall(SYS_pidfd_open, pid, 0)))
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
