// SPDX-License-Identifier: MIT
// cli: --function -> which functions of a program become slices, and by which way.
#include "cli/functions/plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nslice/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/functions/choose.hpp"
#include "cli/functions/program_objects.hpp"
#include "common/command/counted.hpp"
#include "common/command/output.hpp"
#include "common/command/tell.hpp"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
constexpr const char *kSledLibrary = "libnsprobe-functions.so";

// Next to this program: in a build tree, or installed.
std::string sled_library()
{
    char own[4096];
    const ssize_t bytes = readlink("/proc/self/exe", own, sizeof(own));
    if (bytes <= 0)
        return {};
    const std::string folder =
        std::string(own, size_t(bytes)).substr(0, std::string(own, size_t(bytes)).rfind('/'));
    for (const char *where : {"lib", "../lib", NETSLICE_LIBRARY_FOLDER, "libnsprobe"}) {
        std::string path =
            (where[0] == '/' ? std::string(where) : folder + "/" + where) + "/" + kSledLibrary;
        if (access(path.c_str(), R_OK) == 0)
            return path;
    }
    return {};
}

// One expression for all patterns; the library searches all objects that have sleds.
std::string joined(const std::vector<std::string> &patterns)
{
    std::string regex;
    for (const std::string &pattern : patterns)
        regex += (regex.empty() ? "" : "|") + ("(" + pattern + ")");
    return regex;
}

// The kernel lets such a program begin with rights that this process has not (AT_SECURE).
bool gains_rights(const std::string &path)
{
    struct stat status = {};
    struct statvfs system = {};
    if (stat(path.c_str(), &status) != 0 || statvfs(path.c_str(), &system) != 0 ||
        (system.f_flag & ST_NOSUID) || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1)
        return false;
    const bool has_group = (status.st_mode & (S_ISGID | S_IXGRP)) == (S_ISGID | S_IXGRP);
    return ((status.st_mode & S_ISUID) && status.st_uid != getuid()) ||
           (has_group && status.st_gid != getgid()) ||
           (getuid() != 0 && getxattr(path.c_str(), "security.capability", nullptr, 0) > 0);
}

// Empty if sleds can be used.
std::string why_not_by_sleds(const FunctionOptions &options,
                             const std::vector<ChosenFunction> &functions, pid_t pid,
                             const std::string &library, const ElfObject &program)
{
    if (pid != 0)
        return "the process already runs";
    if (std::ranges::any_of(options.patterns, has_object))
        return "sleds are searched in all objects, not only in one";
    if (std::string why = why_not_by_sleds(functions); !why.empty())
        return why;
    if (program.interpreter.empty())
        return "the program is linked statically";
    if (gains_rights(program.path))
        return fmt::format("{} is set-user-ID, set-group-ID or has capabilities, so its dynamic "
                           "loader ignores the library that records sleds",
                           program.name);
    return library.empty() ? fmt::format("{} is not installed", kSledLibrary) : "";
}

void check_number(const std::vector<ChosenFunction> &functions)
{
    if (functions.size() <= NSLICE_MOST_UPROBE_FUNCTIONS)
        return;
    std::map<std::string, size_t> by_object;
    for (const ChosenFunction &one : functions)
        ++by_object[one.object->name];
    std::string list;
    for (const auto &[name, count] : by_object)
        list += fmt::format("{}{} in {}", list.empty() ? "" : ", ", count, name);
    throw TraceError(fmt::format("--function: {} match ({}); at most {} can be recorded (use a "
                                 "narrower expression, or OBJECT:REGEX)",
                                 command::counted(functions.size(), "function"), list,
                                 NSLICE_MOST_UPROBE_FUNCTIONS));
}

void tell_uprobes(const FunctionPlan &plan, const std::vector<ChosenFunction> &functions,
                  bool is_quiet)
{
    const bool can_throw = std::ranges::any_of(
        functions, [](const ChosenFunction &one) { return one.object->throws; });
    if (can_throw)
        command::tell(
            "nsdump: warning: the program uses C++ exceptions: one that leaves a function "
            "recorded by uprobes ends the program\n");
    const bool can_switch = std::ranges::any_of(
        functions, [](const ChosenFunction &one) { return one.object->switches_stacks; });
    if (can_switch)
        command::tell("nsdump: warning: the program switches stacks (swapcontext): a function "
                      "recorded by uprobes that is left so ends the program\n");
    if (is_quiet)
        return;
    command::tell("nsdump: {} by uprobes ({}); each call takes a microsecond or more longer\n",
                  command::counted(plan.traced.size(), "function"), plan.reason);
    const auto stepped =
        std::ranges::count(plan.traced, NSLICE_WAY_UPROBE_STEPPED, &TracedFunction::way);
    if (stepped > 0)
        command::tell("nsdump: {} with an instruction that the kernel single-steps: a call takes "
                      "several times as long, in virtual machines up to 100 us\n",
                      command::counted(size_t(stepped), "function begins", "functions begin"));
}
} // namespace

FunctionPlan plan_functions(const FunctionOptions &options, const std::string &program, pid_t pid,
                            bool is_quiet)
{
    FunctionPlan plan;
    if (options.patterns.empty())
        return plan;
    const std::vector<ElfObject> objects =
        pid != 0 ? objects_of_process(pid) : objects_of_program(program);
    const std::vector<ChosenFunction> functions = choose_functions(objects, options.patterns);
    plan.library = sled_library();
    const std::string why_not =
        why_not_by_sleds(options, functions, pid, plan.library, objects.front());
    if (options.by == "sleds" && !why_not.empty())
        throw command::UsageError(
            fmt::format("--function-by sleds: {} (use uprobes, as root)", why_not));
    plan.is_by_sleds = options.by != "uprobes" && why_not.empty();
    plan.reason = options.by != "auto" ? "requested"
                  : plan.is_by_sleds   ? "all matching functions have sleds or patchable entries"
                                       : why_not;
    if (plan.is_by_sleds) {
        plan.regex = joined(options.patterns);
        if (!is_quiet)
            command::tell("nsdump: {} by sleds ({})\n",
                          command::counted(functions.size(), "function"), plan.reason);
        return plan;
    }
    if (const std::string why = why_not_by_uprobes(functions); !why.empty())
        throw TraceError("--function: " + why);
    check_number(functions);
    for (const ChosenFunction &one : functions)
        plan.traced.push_back({one.object->path, one.function->offset, one.name, one.object->name,
                               one.function->way});
    tell_uprobes(plan, functions, is_quiet);
    return plan;
}

void prepare_for_sleds(const FunctionPlan &plan)
{
    if (!plan.is_by_sleds)
        return;
    const char *const before = getenv("LD_PRELOAD");
    setenv("LD_PRELOAD",
           (plan.library + (before && *before ? std::string(":") + before : "")).c_str(), 1);
    setenv("NETSLICE_FUNCTIONS", plan.regex.c_str(), 1);
}
} // namespace nsdump
