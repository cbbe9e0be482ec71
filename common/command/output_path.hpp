// SPDX-License-Identifier: MIT
// output_path: a name -> the file behind it, there or not yet.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tuple>

#include <sys/stat.h>

namespace command
{
// Follows symbolic links, also to a file that is not there yet.  0 or errno.
int follow_links(const std::string &path, std::filesystem::path &target);

// Device, inode and name in it; the name is empty where the inode is the file's own, not its folder's.
using Identity = std::tuple<dev_t, ino_t, std::string>;

// None for what can be written by several at once: terminals, pipes, /dev/null.
std::optional<Identity> identity(const std::string &path);
std::optional<Identity> identity(int fd);
} // namespace command
