// SPDX-License-Identifier: MIT
// output: text -> standard output or a file that is whole or not there.
#include "output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include <fmt/format.h>

#include "signals.hpp"

namespace command
{
namespace
{
constexpr int kPipeMilliseconds = 20;

[[noreturn]] void throw_cannot_write(const std::string &path)
{
    throw OutputError(fmt::format("{}: cannot write: {}", path, std::strerror(errno)));
}

// A named pipe may get its reader after us; a Ctrl-C must reach us meanwhile.
int open_in_place(const std::string &path)
{
    for (;;) {
        const int fd = open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd >= 0) {
            fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
            return fd;
        }
        if (errno != ENXIO)
            throw_cannot_write(path);
        if (was_interrupted())
            throw Interrupted();
        pause_for(kPipeMilliseconds);
    }
}

// What a link stands for, so that the link is not replaced.
std::string target_of(const std::string &path)
{
    std::error_code error;
    const std::filesystem::path target = std::filesystem::canonical(path, error);
    return error ? path : target.string();
}
} // namespace

Output::Output(const std::string &path, const std::string &input) : path_(path == "-" ? "" : path), fd_(STDOUT_FILENO)
{
    if (path_.empty())
        return;
    struct stat there = {}, in = {};
    const bool exists = stat(path_.c_str(), &there) == 0;
    if (exists && !input.empty() && stat(input.c_str(), &in) == 0 && in.st_dev == there.st_dev && in.st_ino == there.st_ino)
        throw UsageError(path_ + ": is the input; give the output another name");
    if (exists && !S_ISREG(there.st_mode)) { // a pipe or terminal cannot be renamed to
        fd_ = open_in_place(path_);
        return;
    }
    target_ = target_of(path_);
    temporary_ = target_ + fmt::format(".{}.part", getpid());
    fd_ = open(temporary_.c_str(), O_WRONLY | O_CLOEXEC | O_CREAT | O_TRUNC, 0666);
    if (fd_ < 0) {
        temporary_.clear();
        throw_cannot_write(path_);
    }
    if (exists)
        fchmod(fd_, there.st_mode & 07777);
}

Output::~Output()
{
    if (fd_ != STDOUT_FILENO && fd_ >= 0)
        close(fd_);
    if (!temporary_.empty())
        unlink(temporary_.c_str());
}

void Output::flush()
{
    std::size_t done = 0;
    while (done < text_.size()) {
        const ssize_t n = write(fd_, text_.data() + done, text_.size() - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EPIPE)
            throw OutputClosed();
        if (n < 0)
            throw_cannot_write(path_.empty() ? "standard output" : path_);
        done += static_cast<std::size_t>(n);
    }
    text_.clear();
}

void Output::finish()
{
    flush();
    if (temporary_.empty())
        return;
    const int closed = close(fd_);
    fd_ = -1;
    if (closed != 0 || rename(temporary_.c_str(), target_.c_str()) != 0)
        throw_cannot_write(path_);
    temporary_.clear();
}
} // namespace command
