// SPDX-License-Identifier: MIT
// output: text -> a file that is whole or not there.
#include "output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include <fmt/format.h>

namespace calibrate
{
namespace
{
[[noreturn]] void fail(const std::string &path)
{
    throw OutputError(fmt::format("{}: cannot write: {}", path, std::strerror(errno)));
}

void write_all(int fd, const std::string &text, const std::string &path)
{
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t written = write(fd, text.data() + done, text.size() - done);
        if (written < 0 && errno != EINTR)
            fail(path);
        done += written > 0 ? static_cast<std::size_t>(written) : 0;
    }
}

bool is_special_file(const std::string &path)
{
    struct stat status;
    return stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode);
}
} // namespace

OutputFile::OutputFile(const std::string &path) : path_(path)
{
    if (path.empty())
        return;
    const bool in_place = is_special_file(path);
    const std::string target = in_place ? path : fmt::format("{}.{}.part", path, getpid());
    fd_ = open(target.c_str(), O_WRONLY | O_CLOEXEC | (in_place ? 0 : O_CREAT | O_TRUNC), 0666);
    if (fd_ < 0)
        fail(target);
    if (!in_place)
        temporary_ = target;
}

OutputFile::~OutputFile()
{
    if (fd_ >= 0)
        close(fd_);
    if (!temporary_.empty())
        unlink(temporary_.c_str());
}

void OutputFile::finish(const std::string &text)
{
    if (fd_ < 0)
        return;
    write_all(fd_, text, path_);
    const int fd = fd_;
    fd_ = -1;
    if (close(fd) != 0)
        fail(path_);
    if (temporary_.empty())
        return;
    if (rename(temporary_.c_str(), path_.c_str()) != 0)
        fail(path_);
    temporary_.clear();
}

void print_to_stdout(const std::string &text)
{
    write_all(STDOUT_FILENO, text, "standard output");
}
} // namespace calibrate
