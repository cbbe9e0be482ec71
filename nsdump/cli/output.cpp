// SPDX-License-Identifier: MIT
// cli: text -> standard output or a file that is whole or not there.
#include "cli/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace nsdump
{
namespace
{
bool is_special_file(const std::string &path)
{
    struct stat status;
    return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}
} // namespace

Output::Output(const std::string &path) : path_(path == "-" ? "" : path), fd_(STDOUT_FILENO)
{
    if (path_.empty())
        return;
    const bool in_place = is_special_file(path_); // a pipe or terminal cannot be renamed to
    const std::string target = in_place ? path_ : path_ + fmt::format(".{}.part", getpid());
    fd_ = open(target.c_str(), O_WRONLY | O_CLOEXEC | (in_place ? 0 : O_CREAT | O_TRUNC), 0666);
    if (fd_ < 0)
        throw OutputError(fmt::format("{}: cannot write: {}", target, std::strerror(errno)));
    if (!in_place)
        temporary_ = target;
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
            throw OutputError(fmt::format("{}: cannot write: {}", path_.empty() ? "standard output" : path_,
                                          std::strerror(errno)));
        done += static_cast<std::size_t>(n);
    }
    text_.clear();
}

void Output::finish()
{
    flush();
    if (temporary_.empty())
        return;
    if (close(fd_) != 0 || rename(temporary_.c_str(), path_.c_str()) != 0) {
        fd_ = -1;
        throw OutputError(fmt::format("{}: cannot write: {}", path_, std::strerror(errno)));
    }
    fd_ = -1;
    temporary_.clear();
}
} // namespace nsdump
