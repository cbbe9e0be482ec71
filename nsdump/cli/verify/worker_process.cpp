// SPDX-License-Identifier: MIT
// verify: a worker in a process of its own, with the file of its trace.
#include "cli/verify/worker_process.hpp"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <stdexcept>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nsdump::verify
{
Reports::Reports()
    : memory_(mmap(nullptr, sizeof(SharedReports), PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0))
{
    if (memory_ == MAP_FAILED)
        throw std::runtime_error("no memory to share with the processes that count");
    reports_ = new (memory_) SharedReports{};
}

Reports::~Reports()
{
    munmap(memory_, sizeof(SharedReports));
}

WorkerProcess::WorkerProcess(const Work &work, SharedReports &reports, unsigned number)
    : file_(memfd_create("nsdump-counters", MFD_CLOEXEC))
{
    if (file_ >= 0 && (pid_ = fork()) == 0) {
        try {
            run_worker(work, file_, reports, number);
        } catch (...) { // the parent's objects must not be destroyed here
            _exit(1);
        }
        _exit(0);
    }
    if (file_ >= 0 && pid_ > 0)
        return;
    const int error = errno;
    if (file_ >= 0)
        close(file_); // the destructor does not run
    throw std::runtime_error(
        fmt::format("cannot start a process that counts: {}", std::strerror(error)));
}

WorkerProcess::~WorkerProcess()
{
    if (pid_ > 0 && !is_over()) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    close(file_);
}

bool WorkerProcess::is_over()
{
    if (!is_over_)
        is_over_ = waitpid(pid_, &status_, WNOHANG) == pid_;
    return is_over_;
}

std::string WorkerProcess::fault() const
{
    if (!is_over_)
        return "the process that counts did not end in time";
    if (WIFSIGNALED(status_))
        return fmt::format("the process that counts was killed by signal {} ({})",
                           WTERMSIG(status_), strsignal(WTERMSIG(status_)));
    if (WEXITSTATUS(status_) != 0)
        return fmt::format("the process that counts failed with exit code {}",
                           WEXITSTATUS(status_));
    return "";
}

std::string WorkerProcess::trace() const
{
    return fmt::format("/proc/self/fd/{}", file_);
}
} // namespace nsdump::verify
