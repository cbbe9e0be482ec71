// SPDX-License-Identifier: MIT
// cli: the list of commands, in the order of --help, and the options that several of them have.
#include "cli/commands.hpp"

#include "common/command/arguments.hpp"

namespace nsdump
{
void add_trace(command::ArgumentSet &arguments, std::string &trace)
{
    arguments.add("-r,--read,trace", trace, "trace file").kind("TRACE").required();
}

command::Argument add_output(command::ArgumentSet &arguments, std::string &output)
{
    return arguments.add("-o,--output", output, "file to print to; -: standard output (default)")
        .kind("FILE")
        .check(is_given);
}

command::Argument add_trace_output(command::ArgumentSet &arguments, std::string &output)
{
    return arguments.add("-w,--write", output, "trace file to write")
        .kind("FILE")
        .check(is_given)
        .show_default();
}

command::Argument add_quiet(command::ArgumentSet &arguments, bool &is_quiet)
{
    return arguments.add_flag("-q,--quiet", is_quiet,
                              "no progress and no notes; only errors and what is missing");
}

std::span<const Command *const> all_commands()
{
    static constexpr const Command *kCommands[] = {&kRecord, &kKernel, &kSnapshot, &kShow,
                                                   &kStats,  &kExport, &kCheck,    &kCounters};
    return kCommands;
}
} // namespace nsdump
