// SPDX-License-Identifier: MIT
// output_path: a name -> the file that it refers to, which may not exist yet.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>

#include <sys/stat.h>

namespace command
{
// Follows symbolic links, also to a file that does not exist.  Returns 0 or errno.
int follow_links(const std::string &path, std::filesystem::path &target);

// Device, inode and name: of an existing file with an empty name, or of its folder with its name.
using Identity = std::tuple<dev_t, ino_t, std::string>;

// None for files that may have several writers: terminals, pipes, /dev/null.
std::optional<Identity> identity(const std::string &path);
std::optional<Identity> identity(int fd);
} // namespace command
