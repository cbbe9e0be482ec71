// SPDX-License-Identifier: MIT
// Regular file: a descriptor that a client sent -> it is of a regular file, or Error.
#pragma once

#include <string>

#include <mapi/errors.h>
#include <sys/stat.h>

#include "engine/error.hpp"
#include "ipc/descriptor.hpp"

namespace mapi::daemon
{
// Of others a client can make each read or write wait for ever, whatever poll() said before.
inline void check_regular(const ipc::Descriptor &file, mapi_error error, const std::string &name)
{
    struct stat status = {};
    if (fstat(file.number(), &status) < 0 || !S_ISREG(status.st_mode))
        throw Error(error, name + ": is no regular file, and mapid takes no others; with MAPI_SOCKET=none the program reads and writes them itself");
}
} // namespace mapi::daemon
