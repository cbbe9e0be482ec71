// SPDX-License-Identifier: MIT
// Group: its name -> its number.
#pragma once

#include <cerrno>
#include <optional>
#include <string>
#include <vector>

#include <grp.h>

namespace mapi::engine
{
// Any thread.  Empty if there is no group of that name.
inline std::optional<gid_t> group_number(const std::string &name)
{
    group entry = {};
    group *found = nullptr;
    std::vector<char> memory(1024);
    while (getgrnam_r(name.c_str(), &entry, memory.data(), memory.size(), &found) == ERANGE)
        memory.resize(memory.size() * 2);
    return found ? std::optional(found->gr_gid) : std::nullopt;
}
} // namespace mapi::engine
