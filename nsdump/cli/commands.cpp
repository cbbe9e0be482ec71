// SPDX-License-Identifier: MIT
// cli: the list of commands, in the order of --help, and the options that several of them have.
#include "cli/commands.hpp"

#include "cli/read/standard_input.hpp"
#include "common/command/arguments.hpp"
#include "common/command/output.hpp"

namespace nsdump
{
void add_trace(command::ArgumentSet &arguments, std::string &trace)
{
    arguments.add("-r,--read,trace", trace, "trace file; -: standard input")
        .kind("TRACE")
        .required();
}

void check_trace_name(const std::string &trace)
{
    if (trace.empty())
        throw command::UsageError("trace: is empty (give a name)");
    if (trace == "-")
        make_standard_input_a_file();
}

command::Argument add_output(command::ArgumentSet &arguments, std::string &output,
                             const std::string &what)
{
    return arguments.add("-o,--output", output, what + "; -: standard output (default)")
        .kind("FILE")
        .check(command::is_given);
}

command::Argument add_trace_output(command::ArgumentSet &arguments, std::string &output)
{
    return arguments.add("-w,--write", output, "trace file to write")
        .kind("FILE")
        .check(command::is_given)
        .show_default();
}

command::Argument add_quiet(command::ArgumentSet &arguments, bool &is_quiet)
{
    return arguments.add_flag("-q,--quiet", is_quiet,
                              "no progress and no notes; only errors and what is missing");
}

std::string help_footer(const std::string &examples)
{
    return "Examples:" + examples + R"(
Exit codes:
  0    success
  1    findings: damage, missing parts or a broken loss equation; what could be read was printed
  2    invalid usage
  3    a file cannot be read, is not a trace, or has a newer version
  4    the output cannot be written
  130  interrupted; what was read until then was printed; no file is written)";
}

std::span<const Command *const> all_commands()
{
    static constexpr const Command *kCommands[] = {
        &kRecord,  &kControl, &kKernel, &kSnapshot, &kTop,   &kShow,     &kStats,
        &kExplain, &kExport,  &kDiff,   &kGate,     &kCheck, &kCounters, &kFunctions};
    return kCommands;
}
} // namespace nsdump
