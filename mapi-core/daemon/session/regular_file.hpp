// SPDX-License-Identifier: MIT
// Regular file: a descriptor that a client sent -> checked to be of a regular file, or Error.
#pragma once

#include <string>

#include <linux/magic.h>
#include <mapi/errors.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "engine/error.hpp"
#include "ipc/descriptor.hpp"

namespace mapi::daemon
{
// With other kinds of files, a client can make each read or write wait forever, whatever poll()
// returned before.
inline void check_regular(const ipc::Descriptor &file, mapi_error error, const std::string &name)
{
    struct stat status = {};
    struct statfs system = {};
    const bool is_regular = fstat(file.number(), &status) == 0 && S_ISREG(status.st_mode);
    // The process that implements a FUSE file system decides when, and whether, it answers.
    if (is_regular && fstatfs(file.number(), &system) == 0 && system.f_type == FUSE_SUPER_MAGIC)
        throw Error(error, name + ": FUSE file systems are unsupported through mapid (copy the "
                                  "file, or set MAPI_SOCKET=none to open it in the program)");
    if (!is_regular)
        throw Error(error, name + ": not a regular file, which mapid requires (set "
                                  "MAPI_SOCKET=none to open it in the program)");
}
} // namespace mapi::daemon
