// SPDX-License-Identifier: MIT
// nsdump control: a running process -> other slices recorded from now on.
#include <cerrno>
#include <memory>
#include <string>
#include <string_view>

#include <nsprobe/recorder.h>

#include "cli/commands.hpp"
#include "common/command/arguments.hpp"
#include "common/command/output.hpp"
#include "common/command/tell.hpp"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
struct Options {
    int pid = 0;
    std::string slices;
};

// Lines; the last one has no end if it was cut off.
void tell_unmatched(std::string_view lines)
{
    while (!lines.empty()) {
        const size_t end = lines.find('\n');
        const std::string_view line = lines.substr(0, end);
        command::tell("nsdump: warning: {}{}\n", line, end == lines.npos ? " ..." : "");
        lines.remove_prefix(end == lines.npos ? lines.size() : end + 1);
    }
}

int run(const Options &options)
{
    const int error = nsp_control_slices(options.pid, options.slices.c_str());
    if (error == -EINVAL)
        throw command::UsageError(nsp_last_error());
    if (error != 0)
        throw TraceError(nsp_last_error());
    tell_unmatched(nsp_last_error());
    return kExitOk;
}

constexpr char kFooter[] =
    R"(The process must have control=yes among the options of its session (NETSLICE or
NET_SLICE_CONF), run under `nsdump record --control`, or accept recorders (attach=yes). Slices
that are open at that moment have a START without STOP or the reverse. Children of fork() keep the
old selection. A pattern that matches nothing that the process has by now is reported on standard
error; it applies nevertheless, also to objects that are loaded later.

Examples:
  nsdump control -p 1234 --slices 'filter*,!publish'
  nsdump control -p 1234 --slices '*'

Exit codes:
  0    success
  2    invalid usage
  3    the process does not exist, does not accept control requests, or is another user's)";

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<Options>();
    arguments.add("-p,--pid", options->pid, "process to control")
        .kind("PID")
        .check(is_positive)
        .required();
    arguments
        .add("--slices", options->slices,
             "slices and marks to record from now on, e.g. 'filter*,!publish'; '*': all")
        .kind("PATTERNS")
        .check(command::is_given)
        .required();
    arguments.footer(kFooter);
    return [options] { return run(*options); };
}
} // namespace

const Command kControl = {"control", "Change which slices a running process records", add};
} // namespace nsdump
