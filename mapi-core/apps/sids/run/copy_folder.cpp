// SPDX-License-Identifier: MIT
#include "copy_folder.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include <fmt/format.h>

#include "common/file_error/file_error.h"

namespace sids
{
namespace
{
constexpr mode_t kFileMode = 0644;
constexpr unsigned kNamesMost = 100000; // of one id
} // namespace

CopyFolder::CopyFolder(const std::string &path) : path_(path.empty() ? "." : path)
{
    struct stat status = {};
    if (stat(path_.c_str(), &status) != 0)
        throw command::UsageError(
            fmt::format("--copy-folder {}: {}", path_, nslice_write_error(errno)));
    if (!S_ISDIR(status.st_mode))
        throw command::UsageError(fmt::format("--copy-folder {}: is not a folder", path_));
    if (access(path_.c_str(), W_OK | X_OK) != 0)
        throw command::UsageError(
            fmt::format("--copy-folder {}: {}", path_, nslice_write_error(errno)));
}

std::string CopyFolder::create(uint32_t id)
{
    for (unsigned number = 1; number <= kNamesMost; ++number) {
        std::string path = number == 1 ? fmt::format("{}/{}.pcapng", path_, id)
                                       : fmt::format("{}/{}-{}.pcapng", path_, id, number);
        const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kFileMode);
        if (file >= 0) {
            close(file);
            made_.push_back(path);
            return path;
        }
        if (errno != EEXIST)
            throw CopyError(fmt::format("{}: {}", path, nslice_write_error(errno)));
    }
    throw CopyError(
        fmt::format("{}: has {} captures of rule {} (move them away)", path_, kNamesMost, id));
}

void CopyFolder::remove_made()
{
    for (const std::string &path : made_)
        unlink(path.c_str());
    made_.clear();
}

void allow_many_files()
{
    struct rlimit limit = {};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        setrlimit(RLIMIT_NOFILE, &limit);
    }
}
} // namespace sids
