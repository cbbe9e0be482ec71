// SPDX-License-Identifier: MIT
// temp_folder: TMPDIR, or a file system in memory if there is one -> a folder that is removed with
// its object.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <unistd.h>

namespace mapi_cost
{
class TempError : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

class TempFolder
{
public:
    TempFolder() : path_(parent() + "/mapi-cost-XXXXXX")
    {
        if (!mkdtemp(path_.data()))
            throw TempError(path_ + ": cannot create a folder for traces: " + std::strerror(errno) +
                            " (set TMPDIR to a folder with about 100 MB of free space)");
    }
    ~TempFolder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TempFolder(const TempFolder &) = delete;
    TempFolder &operator=(const TempFolder &) = delete;

    std::string file(const std::string &name) const { return path_ + "/" + name; }

private:
    static std::string parent()
    {
        if (const char *named = std::getenv("TMPDIR"); named && *named)
            return named;
        return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
    }

    std::string path_;
};
} // namespace mapi_cost
