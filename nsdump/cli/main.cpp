// SPDX-License-Identifier: MIT
// nsdump: picks the command; exceptions -> messages and exit codes.
#include <cerrno>
#include <iostream>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nsprobe/recorder.h>

#include "cli/commands.hpp"
#include "command/output.hpp"
#include "command/signals.h"
#include "command/standard_files.h"
#include "command/tell.hpp"
#include "decode/error.hpp"
#include "export/escape.hpp"
#include "file_error/file_error.h"

NSP_IGNORE_ENVIRONMENT;

namespace
{
constexpr const char *kFooter = R"(Examples:
  nsdump record -o trace.nsl -- ./program         record a program; `nsdump record --help` has its exit codes
  nsdump stats trace.nsl                          what every slice costs, probes' own cost taken out
  nsdump show trace.nsl --limit 50                the first 50 events
  nsdump export trace.nsl --what slices -o s.csv  one line a slice
  nsdump check trace.nsl && echo whole            is anything damaged or uncounted?
  nsdump record -k irq,sched -- ./program         with the kernel's interrupts and switches (module nsmod)
  nsdump kernel --list                            which places in the kernel can be recorded
  nsdump counters                                 what this machine can count, and how

Exit codes:
  0    all is well
  1    findings: damage, a missing footer or a broken loss equation; what could be read was printed
  2    wrong arguments
  3    a file cannot be read, is no trace, or is of a newer version
  4    the output cannot be written
  130  interrupted; what was read until then was printed)";

// The library says only that a subcommand is required.
bool has_unknown_command(const CLI::App &app, const CLI::ParseError &error)
{
    const std::vector<std::string> left = app.remaining();
    if (error.get_name() != "RequiredError" || left.empty() || !app.get_subcommands().empty())
        return false;
    if (left.front()[0] == '-') {
        command::tell("nsdump: no option is called \"{}\" before a command; see nsdump --help\n", nsdump::printable(left.front()));
        return true;
    }
    std::string known;
    for (const nsdump::Command *command : nsdump::all_commands())
        known += (known.empty() ? "" : ", ") + std::string(command->name);
    command::tell("nsdump: no command is called \"{}\"; there are: {}\n", nsdump::printable(left.front()), known);
    return true;
}

int run_command(const nsdump::RunCommand &run)
{
    try {
        return run();
    } catch (const command::OutputClosed &) {
        return nsdump::kExitOk;
    } catch (const command::Interrupted &) {
        return nsdump::kExitInterrupted;
    } catch (const command::UsageError &error) {
        command::tell("nsdump: {}\n", error.what());
        return nsdump::kExitUsage;
    } catch (const command::OutputError &error) {
        command::tell("nsdump: {}\n", error.what());
        return nsdump::kExitOutput;
    } catch (const std::exception &error) {
        command::tell("nsdump: {}\n", error.what());
        return nsdump::kExitUnreadable;
    }
}
} // namespace

int main(int argc, char **argv)
{
    command_keep_standard_files();
    CLI::App app{"Records and reads NetSlice traces.", "nsdump"};
    app.set_version_flag("--version", std::string("nsdump " NETSLICE_VERSION));
    app.require_subcommand(1);
    app.footer(kFooter);
    std::vector<std::pair<CLI::App *, nsdump::RunCommand>> commands;
    for (const nsdump::Command *command : nsdump::all_commands()) {
        CLI::App *sub = app.add_subcommand(command->name, command->summary);
        commands.emplace_back(sub, command->add(*sub));
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError &error) {
        if (has_unknown_command(app, error))
            return nsdump::kExitUsage;
        const int code = app.exit(error);
        if (!std::cout.flush()) {
            command::tell("{}: standard output: cannot write: {}\n", app.get_name(), nslice_write_error(errno));
            return nsdump::kExitOutput;
        }
        return code == 0 ? nsdump::kExitOk : nsdump::kExitUsage;
    }
    command_catch_interrupts();
    command_ignore_write_signals();
    for (const auto &[sub, run] : commands)
        if (sub->parsed())
            return run_command(run);
    return nsdump::kExitUsage;
}
