// SPDX-License-Identifier: MIT
// nscalibrate: options -> pinned thread -> measurements -> report.
#include <algorithm>
#include <cerrno>
#include <fstream>
#include <optional>
#include <string>

#include <sched.h>
#include <sys/stat.h>
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
#include "common/file_error/file_error.h"
#include "memory/memory_report.hpp"
#include "nsdump/analyse/correct/calibration.hpp"
#include "report/environment.hpp"
#include "report/report.hpp"
#include "report/warnings.hpp"
#include "run.hpp"
#include "surroundings/live.hpp"

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

constexpr const char *kFooter = R"(Figures:
  inner    ticks that a slice reads in addition to its work; negative if its two clock reads
           overlap with the work (mode fast): its net value then exceeds the raw one
  outer    ticks that a probe, or the pair START + STOP, adds to the work around it
  alone    outer without work to overlap with, one probe right after another
  NSO      in the paper's tables: what an empty slice reads, without work to overlap with

Examples:
  nscalibrate                                 cost of clock reads and probes, in a few seconds
  nscalibrate -w calibration.json             also save it for `nsdump stats --calibration`
  nscalibrate --cpu 3 --thorough              on CPU 3, with narrower intervals
  nscalibrate --counters instructions,cycles  as in a session with these counters
  nscalibrate --paper                         machine instructions and macros compared with 2001
  nscalibrate --watch                         what disturbs this CPU, once a second, until Ctrl-C
  nscalibrate --memory                        the cost of a load from each cache and from memory
  nscalibrate --json | jq '.probes[0]'        machine-readable output

Exit codes:
  0    measured; warnings, if any, are printed; --watch: ended by Ctrl-C or --duration
  1    measured, but the figures must not be used; the last lines say why
  2    invalid usage, including an unknown counter
  3    cannot measure here
  4    the output cannot be written
  130  interrupted; nothing was written)";

constexpr size_t kHeadBytes = 4096; // a calibration has its schema in these

struct Options {
    std::optional<unsigned> cpu;
    uint32_t batches = 0;
    bool is_thorough = false;
    bool wants_paper = false;
    bool is_quiet = false;
    bool watches = false;
    uint32_t watch_seconds = 0; // 0: until Ctrl-C
    bool wants_memory = false;
    uint64_t largest = 0; // bytes of memory in use; 0: by the caches
    std::string format = "text";
    std::string calibration; // file to write
    std::string output;
    std::string counters; // empty: instructions, if available
};

// -> the argument that only --watch takes.
command::Argument add_watch(command::Arguments &arguments, Options &options)
{
    arguments.add_flag("--watch", options.watches,
                       "show each second what disturbs the CPU: a busy sibling thread, a changing "
                       "frequency, a hypervisor");
    return arguments
        .add("-d,--duration", options.watch_seconds, "seconds to watch (default: until Ctrl-C)")
        .kind("SECONDS")
        .range(1, 1000000000);
}

struct MemoryArguments {
    command::Argument memory, largest;
};

MemoryArguments add_memory(command::Arguments &arguments, Options &options)
{
    const command::Argument memory = arguments.add_flag(
        "--memory", options.wants_memory,
        "measure how long a load takes, by the size of the memory in use: caches, memory, TLB");
    const command::Argument largest =
        arguments
            .add("--largest", options.largest,
                 "largest size with --memory (default: 8 times the last cache, at most 1G and a "
                 "quarter of the free memory)")
            .kind("SIZE")
            .sizes()
            .range(uint64_t(4096), uint64_t(1) << 30);
    return {memory, largest};
}

void add_options(command::Arguments &arguments, Options &options)
{
    arguments.version("nscalibrate " NETSLICE_VERSION);
    arguments.add("--cpu", options.cpu,
                  "CPU to measure on; default: the CPU that the program starts on");
    const command::Argument duration = add_watch(arguments, options);
    const auto [memory, largest] = add_memory(arguments, options);
    const command::Argument batches =
        arguments
            .add("--batches", options.batches,
                 "batches behind each figure; default 500, thorough 8000")
            .range(50, 1000000);
    const command::Argument thorough = arguments.add_flag(
        "--thorough", options.is_thorough, "more passes and batches; takes about a minute");
    const command::Argument counters =
        arguments
            .add("--counters", options.counters,
                 "comma-separated list of required counters; default: instructions, if available")
            .kind("LIST")
            .check(command::is_given);
    const command::Argument write =
        arguments
            .add("-w,--write", options.calibration,
                 "also write calibration.json to this file; -: to standard output instead of the "
                 "tables")
            .kind("FILE")
            .check(command::is_given);
    arguments
        .add("-o,--output", options.output,
             "file to print the tables or the JSON to; -: standard output (default)")
        .kind("FILE")
        .check(command::is_given);
    const command::Argument paper = arguments.add_flag(
        "--paper", options.wants_paper,
        "print the tables of the NetSlice paper with this machine's figures; in the "
        "JSON under \"paper\"");
    arguments.add_format(options.format, {"text", "json"});
    const command::Argument quiet =
        arguments.add_flag("-q,--quiet", options.is_quiet, "no progress line on the terminal");
    arguments.footer(kFooter);
    arguments.at_end([=, memory = memory, largest = largest, &options] {
        if (options.watches)
            command::refuse({batches, thorough, counters, write, paper, quiet, memory},
                            "cannot be combined with --watch");
        else
            command::refuse({duration}, "requires --watch");
        if (options.wants_memory)
            command::refuse({batches, thorough, counters, write, paper},
                            "cannot be combined with --memory");
        else
            command::refuse({largest}, "requires --memory");
        if (options.calibration == "-" && options.output == "-")
            throw command::WrongUse("--write - cannot be combined with --output -");
    });
}

// Like `nsdump record -w`: the file may be a capture or a document, so only a calibration or an
// empty file is replaced.
void check_replaced(const std::string &path)
{
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode) || status.st_size == 0)
        return;
    std::ifstream file(path, std::ios::binary);
    if (!file)
        throw command::OutputError(
            fmt::format("{}: exists, but cannot be read to check whether it is a calibration: {}",
                        path, nslice_read_error(errno)));
    std::string head(kHeadBytes, '\0');
    file.read(head.data(), std::streamsize(head.size()));
    head.resize(size_t(file.gcount()));
    if (head.find(nsdump::kCalibrationSchema) == std::string::npos)
        throw command::OutputError(
            path + ": exists and is not a calibration (remove it, or use another name)");
}

void bind(calibrate::Affinity &affinity, unsigned cpu)
{
    if (!affinity.pin(cpu))
        throw calibrate::CannotMeasure(
            fmt::format("CPU {}: cannot bind to it (choose another with --cpu)", cpu));
}

int watch_machine(const Options &options, calibrate::Affinity &affinity, unsigned cpu)
{
    command::Output output(options.output);
    nsp_machine machine;
    nsp_machine_read(&machine);
    bind(affinity, cpu);
    calibrate::show_live(calibrate::read_environment("/", cpu, machine), options.watch_seconds,
                         options.format == "json", output);
    output.finish();
    return kDone;
}

bool is_spoilt(const std::vector<calibrate::Warning> &warnings)
{
    return std::any_of(warnings.begin(), warnings.end(),
                       [](const calibrate::Warning &warning) { return warning.spoils_result; });
}

int tell_interrupted()
{
    command::tell("nscalibrate: interrupted; nothing was written\n");
    return kInterrupted;
}

int measure_memory(const Options &options, calibrate::Affinity &affinity, unsigned cpu)
{
    using namespace calibrate;
    command::Output output(options.output);
    nsp_machine machine;
    nsp_machine_read(&machine);
    const Environment environment = read_environment("/", cpu, machine);
    bind(affinity, cpu);
    const std::vector<Cache> caches = read_caches("/", cpu);
    const LatencyPlan plan = plan_latency(caches, available_bytes("/"), options.largest);
    command::StatusLine progress(!options.is_quiet);
    const LatencyRun run = run_latency(plan, cpu, progress);
    affinity.widen();
    progress.clear();
    if (run.was_interrupted)
        return tell_interrupted();
    const std::vector<Level> levels = levels_of(caches, run);
    std::vector<Warning> warnings = surroundings_warnings(environment, run.facts);
    for (const Warning &warning : level_warnings(levels))
        warnings.push_back(warning);
    const MemoryReport report = {environment, caches, plan, run, levels, warnings};
    output.text() = options.format == "json" ? memory_json(report) : memory_text(report);
    output.finish();
    return is_spoilt(warnings) ? kNotTrusted : kDone;
}

int calibrate_machine(const Options &options)
{
    using namespace calibrate;
    Affinity affinity;
    const unsigned cpu = options.cpu.value_or(unsigned(sched_getcpu()));
    if (!affinity.may_use(cpu))
        throw command::UsageError(fmt::format(
            "--cpu {}: not allowed for this process (`taskset -p $$` shows the allowed CPUs)",
            cpu));
    if (options.watches)
        return watch_machine(options, affinity, cpu);
    if (options.wants_memory)
        return measure_memory(options, affinity, cpu);
    const bool goes_to_stdout = options.calibration == "-";
    // Opened first, so that a bad path is reported immediately.
    command::check_outputs("", {options.calibration, options.output});
    std::optional<command::Output> file, screen;
    if (!goes_to_stdout)
        check_replaced(options.calibration);
    if (!options.calibration.empty())
        file.emplace(options.calibration);
    if (!goes_to_stdout || !options.output.empty())
        screen.emplace(options.output);
    nsp_machine machine;
    nsp_machine_read(&machine);
    const Environment environment = read_environment("/", cpu, machine);
    bind(affinity, cpu);
    Plan plan = make_plan(options.batches, options.is_thorough, options.counters);
    plan.does_paper = options.wants_paper;
    command::StatusLine progress(!options.is_quiet);
    const Run run = run_cases(plan, affinity, cpu, progress);
    affinity.widen();
    if (run.was_interrupted) {
        progress.clear();
        return tell_interrupted();
    }
    const std::vector<Warning> warnings = warnings_for(environment, run.facts);
    const Report report = {environment, plan, run, warnings};
    const std::string json = as_json(report);
    progress.clear();
    if (file) {
        file->text() = json;
        file->finish();
    }
    if (screen) {
        screen->text() = options.format == "json" ? json
                         : options.wants_paper    ? as_paper_text(report)
                                                  : as_text(report);
        screen->finish();
    }
    return is_spoilt(warnings) ? kNotTrusted : kDone;
}
} // namespace

int main(int argc, char **argv)
{
    command_keep_standard_files();
    command::Arguments arguments(
        "Measure the cost of clock reads and NetSlice probes on this machine.", "nscalibrate");
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
    } catch (const command::OutputClosed &) { // the reader closed the pipe
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
