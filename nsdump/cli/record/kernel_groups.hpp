// SPDX-License-Identifier: MIT
// cli: the module's list of groups as text -> rows.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nsdump
{
// One place in the kernel: the fields of a line of GROUPS in nsmod/ABI.md.
struct KernelPlace {
    std::string group;
    std::string group_says;
    std::string tracepoint;
    std::string kind; // START, STOP, MARK ...
    std::string slice;
    std::string says;
    bool is_here = false; // this kernel has the tracepoint
};

// Ignores lines with fewer fields, and additional fields of a newer module.
std::vector<KernelPlace> parse_groups(std::string_view text);

std::string groups_text(const std::vector<KernelPlace> &places); // for people
std::string groups_json(const std::vector<KernelPlace> &places); // schema netslice-kernel-1
} // namespace nsdump
