// SPDX-License-Identifier: MIT
// temp_folder: TMPDIR, or memory where there is a file system in it -> a folder that goes with its object.
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
        throw TempError(path_ + ": cannot make a folder for traces: " + std::strerror(errno) +
                        "; set TMPDIR to a folder with about 100 MB of room");
}

TempFolder::~TempFolder()
{
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
}
} // namespace mapi_cost
