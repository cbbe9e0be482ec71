// SPDX-License-Identifier: MIT
// Run-time folder: where mapid and its clients meet.
#pragma once

#include <cstdlib>
#include <string>

namespace mapi::ipc
{
inline std::string standard_socket()
{
    return "/run/mapid/mapid.sock";
}

inline std::string socket_path()
{
    const char *named = std::getenv("MAPI_SOCKET");
    return named && *named ? named : standard_socket();
}
} // namespace mapi::ipc
