// SPDX-License-Identifier: MIT
// Run-time paths: where mapid listens and its clients connect.
#pragma once

#include <cstdlib>
#include <string>

#include <sys/stat.h>

namespace mapi::ipc
{
inline std::string standard_socket()
{
    return "/run/mapid/mapid.sock";
}

// is_local: according to mapi.conf, each user has a mapid of their own.
inline std::string socket_path(bool is_local)
{
    const char *named = std::getenv("MAPI_SOCKET"), *home = std::getenv("HOME");
    if (named && *named)
        return named;
    return is_local && home && *home ? std::string(home) + "/.mapid.sock" : standard_socket();
}

// Whether a file or folder that is not a socket has this name.
inline bool is_other_file(const std::string &path)
{
    struct stat status = {};
    return stat(path.c_str(), &status) == 0 && !S_ISSOCK(status.st_mode);
}
} // namespace mapi::ipc
