// SPDX-License-Identifier: MIT
// nscalibrate: options -> pinned, measured, told and written.
#include <algorithm>
#include <optional>
#include <string>

#include <sched.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nsprobe/recorder.h>

#include "affinity.hpp"
#include "common/command/arguments.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/standard_files.h"
#include "common/command/status_line.hpp"
#include "common/command/tell.hpp"
#include "report/environment.hpp"
#include "report/report.hpp"
#include "run.hpp"
#include "report/warnings.hpp"

NSP_IGNORE_ENVIRONMENT;

namespace
{
enum ExitCode {
    kDone = 0,
    kNotTrusted = 1,
    kUsage = 2,
    kCannotMeasure = 3,
    kCannotWrite = 4,
    kInterrupted = 130
};

constexpr const char *kFooter = R"(Examples:
  nscalibrate                                 what clock reads and probes cost here, in a few seconds
  nscalibrate -o calibration.json             the same, kept for `nsdump stats --calibration`
  nscalibrate --cpu 3 --thorough              on CPU 3, with narrower intervals
  nscalibrate --counters instructions,cycles  as in a session with these counters
  nscalibrate --paper                         machine instructions and macros beside those of 2001
  nscalibrate --json | jq '.probes[0]'        for programs

Exit codes:
  0    measured; warnings, if any, are printed
  1    measured, but the figures must not be used; the last lines say why
  2    wrong arguments, an unknown counter among them
  3    cannot measure here
  4    the output cannot be written
  130  interrupted; nothing was written)";

struct Options {
    std::optional<unsigned> cpu;
    std::uint32_t batches = 0;
    bool is_thorough = false;
    bool wants_json = false;
    bool wants_paper = false;
    bool is_quiet = false;
    std::string output;
    std::string counters; // empty: instructions, where they can be had
};

void add_options(command::Arguments &arguments, Options &options)
{
    arguments.version("--version", "nscalibrate " NETSLICE_VERSION);
    arguments.add("--cpu", options.cpu, "CPU to measure on; default: the one it starts on");
    arguments.add("-b,--batches", options.batches,
                   "batches behind each figure; default 500, thorough 8000")
        .range(50, 1000000);
    arguments.add_flag("--thorough", options.is_thorough,
                 "more passes and batches: a minute rather than seconds");
    arguments.add(
        "--counters", options.counters,
        "counters, parted by commas, that must be had; default: instructions, where they can")
        .check([](const std::string &text) { return text.empty() ? "is empty; name counters, or leave the option out" : ""; });
    arguments.add("-o,--output", options.output, "write calibration.json to this file as well; -: to standard output, in place of the tables");
    arguments.add_flag("--paper", options.wants_paper,
                 "the tables of the NetSlice paper, this machine beside that of 2001; in the JSON under \"paper\"");
    arguments.add_flag("--json", options.wants_json, "print JSON rather than tables");
    arguments.add_flag("-q,--quiet", options.is_quiet, "no progress on the terminal");
    arguments.footer(kFooter);
}

int calibrate_machine(const Options &options)
{
    using namespace calibrate;
    Affinity affinity;
    const unsigned cpu = options.cpu.value_or(static_cast<unsigned>(sched_getcpu()));
    if (!affinity.may_use(cpu)) {
        command::tell("nscalibrate: --cpu {}: this process may not use that CPU (see taskset -p {})\n",
                   cpu, getpid());
        return kUsage;
    }
    const bool goes_to_stdout = options.output == "-";
    std::optional<command::Output> file; // opened first, so that a wrong path is told at once
    if (!options.output.empty() && !goes_to_stdout)
        file.emplace(options.output);
    nsp_machine machine;
    nsp_machine_read(&machine);
    const Environment environment = read_environment("/", cpu, machine);
    if (!affinity.pin(cpu))
        throw CannotMeasure(fmt::format("cannot bind to CPU {}", cpu));
    Plan plan = make_plan(options.batches, options.is_thorough, options.counters);
    plan.does_paper = options.wants_paper;
    command::StatusLine progress(!options.is_quiet);
    const Run run = run_cases(plan, affinity, cpu, progress);
    affinity.widen();
    if (run.was_interrupted) {
        progress.clear();
        command::tell("nscalibrate: interrupted, nothing written\n");
        return kInterrupted;
    }
    const std::vector<Warning> warnings = warnings_for(environment, run.facts);
    const Report report = {environment, plan, run, warnings};
    const std::string json = as_json(report);
    progress.clear();
    if (file) {
        file->text() = json;
        file->finish();
    }
    command::Output screen("-");
    if (options.wants_json || goes_to_stdout)
        screen.text() = json;
    else
        screen.text() = options.wants_paper ? as_paper_text(report) : as_text(report);
    screen.finish();
    const bool is_spoilt =
        std::any_of(warnings.begin(), warnings.end(),
                    [](const Warning &warning) { return warning.spoils_result; });
    return is_spoilt ? kNotTrusted : kDone;
}
} // namespace

int main(int argc, char **argv)
{
    command_keep_standard_files();
    command::Arguments arguments("Measures what clock reads and NetSlice probes cost on this machine.", "nscalibrate");
    Options options;
    add_options(arguments, options);
    try {
        if (const auto reply = arguments.parse(argc, argv)) {
            reply->print();
            return reply->is_wrong ? kUsage : kDone;
        }
        command_catch_interrupts();
        command_ignore_write_signals();
        return calibrate_machine(options);
    } catch (const command::OutputClosed &) { // nobody reads any more
        return kDone;
    } catch (const command::Interrupted &) {
        return kInterrupted;
    } catch (const command::UsageError &error) {
        command::tell("nscalibrate: {}\n", error.what());
        return kUsage;
    } catch (const command::OutputError &error) {
        command::tell("nscalibrate: {}\n", error.what());
        return kCannotWrite;
    } catch (const std::exception &error) {
        command::tell("nscalibrate: {}\n", error.what());
        return kCannotMeasure;
    }
}
