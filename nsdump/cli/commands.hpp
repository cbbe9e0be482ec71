// SPDX-License-Identifier: MIT
// cli: the table of commands; a command is one file and one line in commands.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>

namespace command
{
class Argument;
class ArgumentSet;
} // namespace command

namespace nsdump
{
// Exit codes, as documented in --help and nsdump.1.
enum ExitCode {
    kExitOk = 0,
    kExitFindings =
        1,          // damage, missing footer, broken loss equation; what could be read was printed
    kExitUsage = 2, // invalid usage
    kExitUnreadable = 3, // no such file, not a trace, or a newer version
    kExitOutput = 4,     // the output could not be written
    kExitInterrupted = 130,
};

// For options that take a count, in decimal digits.
inline std::string is_count(const std::string &text)
{
    const bool is_number =
        !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    return is_number ? "" : "\"" + text + "\" is not a whole number of at least 0";
}
inline std::string is_positive(const std::string &text)
{
    const bool is_zero = text.find_first_not_of('0') == std::string::npos;
    return is_count(text).empty() && !is_zero
               ? ""
               : "\"" + text + "\" is not a whole number of at least 1";
}

// The trace to read: the positional argument or -r; exactly one of them.
void add_trace(command::ArgumentSet &arguments, std::string &trace);
// To be called before the trace is opened.  Throws UsageError for names that no trace can have; a
// pipe as standard input ("-") is copied to a file first.
void check_trace_name(const std::string &trace);
// -o: where text and data go instead of standard output.
command::Argument add_output(command::ArgumentSet &arguments, std::string &output,
                             const std::string &what = "file to print to");
// -w: the trace to write.
command::Argument add_trace_output(command::ArgumentSet &arguments, std::string &output);
command::Argument add_quiet(command::ArgumentSet &arguments, bool &is_quiet);

// Examples, followed by the exit codes of nsdump and of the commands that read traces.
std::string help_footer(const std::string &examples);

using RunCommand = std::function<int()>; // returns the exit code

struct Command {
    const char *name;
    const char *summary;
    RunCommand (*add)(command::ArgumentSet &arguments); // adds options; returns what to run
};

extern const Command kRecord;
extern const Command kControl;
extern const Command kKernel;
extern const Command kSnapshot;
extern const Command kTop;
extern const Command kShow;
extern const Command kStats;
extern const Command kExplain;
extern const Command kExport;
extern const Command kCheck;
extern const Command kDiff;
extern const Command kGate;
extern const Command kCounters;
extern const Command kFunctions;

std::span<const Command *const> all_commands();
} // namespace nsdump
