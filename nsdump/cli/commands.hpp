// SPDX-License-Identifier: MIT
// cli: the table of commands; a command is one file and one line in commands.cpp.
#pragma once

#include <functional>
#include <span>
#include <string>

namespace command
{
class ArgumentSet;
}

namespace nsdump
{
// Exit codes, as --help and nsdump.1 tell them.
enum ExitCode {
    kExitOk = 0,
    kExitFindings = 1,    // damage, missing footer, broken loss equation; what could be read was printed
    kExitUsage = 2,       // wrong arguments
    kExitUnreadable = 3,  // no file, not a trace, a version too new
    kExitOutput = 4,      // the output could not be written
    kExitInterrupted = 130,
};

// For options that count something: the library's own words for this name the limits of double.
inline std::string is_count(const std::string &text)
{
    const bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    return is_number ? "" : text + " is not a number from 0 on";
}
inline std::string is_positive(const std::string &text)
{
    const bool is_zero = text.find_first_not_of('0') == std::string::npos;
    return is_count(text).empty() && !is_zero ? "" : text + " is not a number from 1 on";
}

inline std::string is_given(const std::string &text)
{
    return text.empty() ? "is empty; name something, or leave the option out" : "";
}

using RunCommand = std::function<int()>; // returns the exit code

struct Command {
    const char *name;
    const char *summary;
    RunCommand (*add)(command::ArgumentSet &arguments); // adds the options and returns what runs after parsing
};

extern const Command kRecord;
extern const Command kKernel;
extern const Command kSnapshot;
extern const Command kShow;
extern const Command kStats;
extern const Command kExport;
extern const Command kCheck;
extern const Command kCounters;

std::span<const Command *const> all_commands();
} // namespace nsdump
