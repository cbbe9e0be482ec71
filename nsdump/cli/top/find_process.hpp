// SPDX-License-Identifier: MIT
// cli: a program's name -> the running process of that name that accepts recorders.
#pragma once

#include <string>
#include <vector>

namespace nsdump
{
struct AttachableProcess {
    int pid = 0;
    std::string name;
};

// Processes that listen for recorders, as /proc/net/unix lists them; by number.
std::vector<AttachableProcess> attachable_processes();
// The same, out of the text of that file.
std::vector<int> attachable_pids(const std::string &sockets);

// Throws UsageError, which lists what there is, unless exactly one process fits.
int find_process(const std::string &name, const std::vector<AttachableProcess> &processes);

// As the kernel shows it; empty if there is no such process.
std::string process_name(int pid);
} // namespace nsdump
