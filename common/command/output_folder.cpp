// SPDX-License-Identifier: MIT
// output_folder: files -> a folder, which is complete or absent.
#include "output_folder.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include <fmt/format.h>

#include "output.hpp"
#include "output_path.hpp"

namespace command
{
namespace
{
namespace fs = std::filesystem;

void check_target(const std::string &path, const fs::path &target)
{
    std::error_code error;
    const fs::file_status status = fs::status(target, error);
    if (status.type() == fs::file_type::not_found)
        return;
    if (error) {
        errno = error.value();
        throw_cannot_write(path);
    }
    if (!fs::is_directory(status))
        throw OutputError(
            fmt::format("{}: exists and is not a folder (choose another name)", path));
    if (!fs::is_empty(target, error)) {
        errno = error.value();
        if (error)
            throw_cannot_write(path);
        throw OutputError(fmt::format("{}: the folder is not empty (choose another name)", path));
    }
}
} // namespace

OutputFolder::OutputFolder(const std::string &path) : path_(path)
{
    std::string trimmed = path;
    while (trimmed.size() > 1 && trimmed.back() == '/')
        trimmed.pop_back();
    fs::path target;
    errno = follow_links(trimmed, target);
    if (errno != 0)
        throw_cannot_write(path);
    check_target(path, target);
    target_ = target;
    const fs::path parent = target.has_parent_path() ? target.parent_path() : ".";
    temporary_ = parent / ".netslice.XXXXXX";
    if (!mkdtemp(temporary_.data())) {
        temporary_.clear();
        throw_cannot_write(path);
    }
    const mode_t mask = umask(0);
    umask(mask);
    chmod(temporary_.c_str(), 0777 & ~mask);
}

OutputFolder::~OutputFolder()
{
    if (fd_ >= 0)
        close(fd_);
    std::error_code ignored;
    if (!temporary_.empty())
        fs::remove_all(temporary_, ignored);
}

void OutputFolder::begin(const std::string &file)
{
    close_file();
    file_ = file;
    const std::string path = temporary_ + "/" + file;
    fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd_ < 0)
        throw_cannot_write(path_ + "/" + file_);
}

void OutputFolder::write(std::string_view bytes)
{
    while (!bytes.empty()) {
        const ssize_t n = ::write(fd_, bytes.data(), bytes.size());
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            throw_cannot_write(path_ + "/" + file_);
        bytes.remove_prefix(size_t(n));
    }
}

void OutputFolder::close_file()
{
    const int fd = fd_;
    fd_ = -1;
    if (fd >= 0 && close(fd) != 0)
        throw_cannot_write(path_ + "/" + file_);
}

void OutputFolder::finish()
{
    close_file();
    if (rename(temporary_.c_str(), target_.c_str()) != 0)
        throw_cannot_write(path_);
    temporary_.clear();
}
} // namespace command
