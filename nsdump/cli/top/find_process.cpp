// SPDX-License-Identifier: MIT
// cli: a program's name -> the running process of that name that accepts recorders.
#include "cli/top/find_process.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "common/command/output.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
constexpr std::string_view kListener = "@netslice.attach.";
constexpr size_t kCommLetters = 15; // the kernel cuts names

std::string text_of(const std::string &path)
{
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

std::string listed(const std::vector<AttachableProcess> &processes)
{
    std::string text;
    for (const AttachableProcess &process : processes)
        text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", process.pid,
                            printable(process.name));
    return text;
}
} // namespace

std::string process_name(int pid)
{
    std::string name = text_of(fmt::format("/proc/{}/comm", pid));
    name.erase(std::find(name.begin(), name.end(), '\n'), name.end());
    return name;
}

std::vector<int> attachable_pids(const std::string &sockets)
{
    std::vector<int> pids;
    for (size_t at = sockets.find(kListener); at != sockets.npos;
         at = sockets.find(kListener, at + 1)) {
        const char *const begin = sockets.data() + at + kListener.size();
        const char *const end = sockets.data() + sockets.size();
        int pid = 0;
        const auto [stop, error] = std::from_chars(begin, end, pid);
        if (error == std::errc() && pid > 0 && (stop == end || *stop == '\n'))
            pids.push_back(pid);
    }
    std::sort(pids.begin(), pids.end()); // a connection has a line of its own
    pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
    return pids;
}

std::vector<AttachableProcess> attachable_processes()
{
    std::vector<AttachableProcess> processes;
    for (const int pid : attachable_pids(text_of("/proc/net/unix")))
        if (std::string name = process_name(pid); !name.empty())
            processes.push_back({pid, std::move(name)});
    return processes;
}

int find_process(const std::string &name, const std::vector<AttachableProcess> &processes)
{
    std::vector<AttachableProcess> fit;
    for (const AttachableProcess &process : processes)
        if (process.name == name.substr(0, kCommLetters))
            fit.push_back(process);
    if (fit.size() == 1)
        return fit.front().pid;
    if (!fit.empty())
        throw command::UsageError(
            fmt::format("{} processes are named \"{}\" and accept recorders: {} (choose one with "
                        "--pid)",
                        fit.size(), printable(name), listed(fit)));
    throw command::UsageError(fmt::format(
        "no process named \"{}\" accepts recorders; {} (start it with NETSLICE=attach=yes in its "
        "environment, or have it call NET_SLICE_CONF(\"attach=yes\"))",
        printable(name), processes.empty() ? "none does" : "those that do: " + listed(processes)));
}
} // namespace nsdump
