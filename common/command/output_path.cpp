// SPDX-License-Identifier: MIT
// output_path: a name -> the file that it refers to.
#include "output_path.hpp"

#include <cerrno>

namespace command
{
namespace
{
namespace fs = std::filesystem;

constexpr int kMostLinks = 40; // same as the kernel

std::optional<Identity> identity_of(const struct stat &status)
{
    if (!S_ISREG(status.st_mode))
        return std::nullopt;
    return Identity(status.st_dev, status.st_ino, "");
}
} // namespace

int follow_links(const std::string &path, fs::path &target)
{
    target = path;
    for (int links = 0; links <= kMostLinks; ++links) {
        std::error_code error;
        if (!fs::is_symlink(fs::symlink_status(target, error)))
            return 0;
        const fs::path next = fs::read_symlink(target, error);
        if (error)
            return error.value();
        target = target.parent_path() / next; // an absolute name replaces the parent
    }
    return ELOOP;
}

std::optional<Identity> identity(const std::string &path)
{
    struct stat status = {};
    if (stat(path.c_str(), &status) == 0)
        return identity_of(status);
    fs::path target;
    if (follow_links(path, target) != 0)
        return std::nullopt;
    const fs::path folder = target.has_parent_path() ? target.parent_path() : ".";
    if (stat(folder.c_str(), &status) != 0)
        return std::nullopt;
    return Identity(status.st_dev, status.st_ino, target.filename().string());
}

std::optional<Identity> identity(int fd)
{
    struct stat status = {};
    return fstat(fd, &status) == 0 ? identity_of(status) : std::nullopt;
}
} // namespace command
