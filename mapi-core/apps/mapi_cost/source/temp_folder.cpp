// SPDX-License-Identifier: MIT
// temp_folder: TMPDIR, or a file system in memory if there is one -> a folder that is removed with
// its object.
#include "temp_folder.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include <unistd.h>

namespace mapi_cost
{
namespace
{
std::string parent()
{
    if (const char *named = std::getenv("TMPDIR"); named && *named)
        return named;
    return access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
}
} // namespace

TempFolder::TempFolder() : path_(parent() + "/mapi-cost-XXXXXX")
{
    if (!mkdtemp(path_.data()))
        throw TempError(path_ + ": cannot create a folder for traces: " + std::strerror(errno) +
                        " (set TMPDIR to a folder with about 100 MB of free space)");
}

TempFolder::~TempFolder()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}
} // namespace mapi_cost
