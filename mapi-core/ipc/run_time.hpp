// SPDX-License-Identifier: MIT
// Run-time paths: where mapid listens and its clients connect.
#pragma once

#include <cstdlib>
#include <string>

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
} // namespace mapi::ipc
