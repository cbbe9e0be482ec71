// SPDX-License-Identifier: MIT
#include "alert_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

#include "common/command/output.hpp"
#include "common/file_error/file_error.h"

namespace sids
{
namespace
{
constexpr mode_t kFileMode = 0644;
}

AlertFile::AlertFile(const std::string &path) : name_("standard output")
{
    if (path.empty() || path == "-")
        return;
    name_ = path;
    file_ = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, kFileMode);
    if (file_ < 0)
        throw command::OutputError(name_ + ": cannot write: " + nslice_write_error(errno));
    is_own_ = true;
}

AlertFile::~AlertFile()
{
    if (is_own_)
        close(file_);
}

void AlertFile::write(const std::string &lines) const
{
    for (std::string_view rest = lines; !rest.empty();) {
        const ssize_t written = ::write(file_, rest.data(), rest.size());
        if (written >= 0)
            rest.remove_prefix(size_t(written));
        else if (errno == EPIPE)
            throw command::OutputClosed();
        else if (errno != EINTR)
            throw command::OutputError(name_ + ": cannot write: " + nslice_write_error(errno));
    }
}
} // namespace sids
