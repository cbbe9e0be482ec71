// SPDX-License-Identifier: MIT
// cli: /proc -> descendants and whether they take part; orphans are reparented here, as to init.
#include "cli/record/descendants.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <fstream>

#include <dirent.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "common/command/tell.hpp"

namespace nsdump
{
namespace
{
constexpr double kLookSeconds = 0.05;
constexpr double kGraceSeconds = 1; // for a process that has not reached its own code yet
constexpr int kLooksToBeSure = 3;   // one scan may miss a process that is being reparented

// The children of all its threads.
std::vector<pid_t> children_of(pid_t parent)
{
    std::vector<pid_t> children;
    const std::string folder = fmt::format("/proc/{}/task", parent);
    DIR *threads = opendir(folder.c_str());
    while (const dirent *thread = threads ? readdir(threads) : nullptr) {
        if (thread->d_name[0] == '.')
            continue;
        std::ifstream list(folder + "/" + thread->d_name + "/children");
        for (pid_t pid; list >> pid;)
            children.push_back(pid);
    }
    if (threads)
        closedir(threads);
    return children;
}

std::string name_of(pid_t pid)
{
    std::ifstream file(fmt::format("/proc/{}/comm", pid));
    std::string name;
    std::getline(file, name);
    return name;
}

bool has_children()
{
    siginfo_t info;
    return waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 || errno != ECHILD;
}
} // namespace

Descendants::Descendants()
{
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
}

void Descendants::reap(pid_t program)
{
    siginfo_t info{};
    while (waitid(P_ALL, 0, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid != 0 &&
           info.si_pid != program) {
        waitpid(info.si_pid, nullptr, WNOHANG);
        info.si_pid = 0;
    }
}

void Descendants::look(const nsp_recorder *recorder)
{
    members_.clear();
    std::vector<pid_t> pending = children_of(getpid());
    while (!pending.empty()) {
        const pid_t pid = pending.back();
        pending.pop_back();
        const int part = nsp_recorder_part_of(recorder, pid);
        if (part != -ENOENT && part != -ESRCH)
            members_.push_back({pid, part});
        for (const pid_t child : children_of(pid))
            pending.push_back(child);
    }
}

// Processes that the kernel hides are included: they may write.
std::vector<Descendants::Member> Descendants::with(bool is_part_taken) const
{
    std::vector<Member> found;
    for (const Member &member : members_)
        if (is_part_taken ? member.part == NSP_PART_TAKEN || member.part < 0
                          : member.part == NSP_PART_POSSIBLE)
            found.push_back(member);
    return found;
}

bool Descendants::is_reported_alive() const
{
    return std::ranges::any_of(reported_, [this](const Member &reported) {
        return std::ranges::any_of(
            members_, [&](const Member &member) { return member.pid == reported.pid; });
    });
}

std::string Descendants::names() const
{
    std::string text;
    for (const Member &member : with(true))
        text +=
            fmt::format("{}{} ({}{})", text.empty() ? "process " : ", ", member.pid,
                        name_of(member.pid), member.part < 0 ? ", not visible to this user" : "");
    return text;
}

std::string Descendants::names_now(const nsp_recorder *recorder)
{
    look(recorder);
    std::string text = names();
    members_.clear(); // the program is not to be among those that terminate_new() ends
    return text;
}

bool Descendants::take_part(const nsp_recorder *recorder, double elapsed_s, bool is_ending)
{
    if (!has_children()) {
        members_.clear();
        return false;
    }
    if (begin_s_ < 0)
        begin_s_ = elapsed_s;
    if (elapsed_s < next_look_s_)
        return true;
    next_look_s_ = elapsed_s + kLookSeconds;
    look(recorder);
    if (!with(true).empty()) {
        empty_looks_ = 0;
        const bool is_settled = seen_ == names(); // not a process that is still daemonizing
        seen_ = names();
        if (is_settled && !is_ending && !is_reported_alive()) {
            reported_ = with(true);
            command::tell("nsdump: the program has ended; {}, which it started, still participates "
                          "and is recorded; Ctrl-C or `kill {}` ends it "
                          "and the recording\n",
                          seen_, getpid());
        }
        return true;
    }
    const std::vector<Member> possible = with(false);
    if ((!possible.empty() && !is_ending && elapsed_s < begin_s_ + kGraceSeconds) ||
        ++empty_looks_ < kLooksToBeSure)
        return true;
    for (const Member &member : is_ending ? std::vector<Member>() : possible)
        command::tell("nsdump: process {} ({}) still runs but does not take part in the recording; "
                      "not waiting for it\n",
                      member.pid, name_of(member.pid));
    return false;
}

bool Descendants::terminate_new()
{
    const std::vector<Member> now = with(true);
    const auto is_gone = [&](pid_t pid) {
        return std::ranges::none_of(now, [&](const Member &member) { return member.pid == pid; });
    };
    std::erase_if(terminated_, is_gone); // its number may be given to another process
    bool is_any_new = false;
    for (const Member &member : now) {
        if (std::ranges::find(terminated_, member.pid) != terminated_.end())
            continue;
        kill(member.pid, SIGTERM);
        terminated_.push_back(member.pid);
        is_any_new = true;
    }
    return is_any_new;
}
} // namespace nsdump
