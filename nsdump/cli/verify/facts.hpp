// SPDX-License-Identifier: MIT
// verify: /proc, /sys and a counter's page -> what one must know about a machine to judge its
// counters.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace nsdump::verify
{
using Facts = std::vector<std::pair<std::string, std::string>>; // name, value

// `root` is "/", or a test tree.  What the system does not report is "unknown".
Facts read_facts(const std::filesystem::path &root);
} // namespace nsdump::verify
