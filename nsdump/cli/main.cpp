// SPDX-License-Identifier: MIT
// nsdump: picks the command; exceptions -> messages and exit codes.
#include <string>
#include <vector>

#include <nsprobe/recorder.h>

#include "cli/commands.hpp"
#include "common/command/arguments.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/standard_files.h"
#include "common/command/tell.hpp"
#include "decode/error.hpp"

NSP_IGNORE_ENVIRONMENT;

namespace
{
constexpr const char *kExamples = R"(
  nsdump record -w trace.nsl -- ./program         record a program (see `nsdump record --help`)
  nsdump stats trace.nsl                          what every slice costs, minus the probes' own cost
  nsdump show trace.nsl -c 50                     the first 50 events
  nsdump export trace.nsl --what slices -o s.csv  one line per slice
  nsdump top app                                  the slices of a running program, live
  nsdump check trace.nsl && echo whole            is anything damaged or missing?
  nsdump record -k irq,sched -- ./program         kernel interrupts and switches, too (module nsmod)
  nsdump kernel --list                            which places in the kernel can be recorded
  nsdump counters                                 what this machine can count, and how
)";

int answer(const command::Reply &reply)
{
    reply.print();
    return reply.is_wrong ? nsdump::kExitUsage : nsdump::kExitOk;
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
    command::Arguments arguments("Record and analyse NetSlice traces.", "nsdump");
    arguments.version("nsdump " NETSLICE_VERSION);
    arguments.require_command();
    arguments.footer(nsdump::help_footer(kExamples));
    std::vector<std::pair<command::ArgumentSet, nsdump::RunCommand>> commands;
    for (const nsdump::Command *command : nsdump::all_commands()) {
        command::ArgumentSet options = arguments.add_command(command->name, command->summary);
        commands.emplace_back(options, command->add(options));
    }
    if (const auto reply = arguments.parse(argc, argv))
        return run_command([&] { return answer(*reply); });
    command_catch_interrupts();
    command_ignore_write_signals();
    for (const auto &[options, run] : commands)
        if (options.was_chosen())
            return run_command(run);
    return nsdump::kExitUsage;
}
