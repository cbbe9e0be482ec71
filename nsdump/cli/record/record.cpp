// SPDX-License-Identifier: MIT
// nsdump record: a program started here, or a running one -> trace file.
#include <cerrno>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>
#include <nsprobe/recorder.h>

#include "cli/commands.hpp"
#include "cli/functions/choose.hpp"
#include "cli/functions/plan.hpp"
#include "cli/record/child.hpp"
#include "cli/record/kernel_side.hpp"
#include "cli/record/record_loop.hpp"
#include "cli/record/record_switch.hpp"
#include "cli/record/recorder.hpp"
#include "cli/record/session_options.hpp"
#include "cli/record/trace_facts.hpp"
#include "common/command/arguments.hpp"
#include "common/command/counted.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/tell.hpp"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{

struct Options {
    std::string output = "trace.nsl";
    SessionOptions session;
    std::string full = "discard";
    std::string kind = "auto";
    bool accepts_control = false;
    bool no_calibration = false;
    int pid = 0;
    double seconds = 0;
    bool is_quiet = false;
    bool is_verbose = false;
    SwitchSignals signals;
    FunctionOptions functions;
    KernelOptions kernel;
    bool is_kernel_of_program = false; // record per-process kernel places for this program only
    std::vector<std::string> program;
};

Recorder open_recorder_with(const Options &options)
{
    nsp_session_config config = config_of(options.session);
    config.output = options.output.c_str();
    config.full = choose<nslice_ring_full>(options.full, {{"overwrite", NSLICE_FULL_OVERWRITE}});
    config.ring_kind = choose<uint32_t>(
        options.kind, {{"rseq", NSLICE_RING_RSEQ}, {"atomic", NSLICE_RING_ATOMIC}});
    config.no_calibration = options.no_calibration;
    config.slices = options.kernel.slices.c_str();
    config.thin_permille = thin_permille(options.kernel);
    config.control = options.accepts_control;
    return open_recorder(config);
}

constexpr const char *kWhyNobody =
    "took part (is the program linked with libnsprobe and built "
    "without NETSLICE_DISABLE? A script or wrapper that starts it must "
    "keep its environment and open descriptors)";

void tell(const Options &options, RecordEnd end, const nsp_recorder_status &status,
          const std::string &refusal, const nsp_session_counts &counts,
          const nsp_session_counts &kernel)
{
    if (status.refused > 0)
        command::tell("nsdump: warning: {} could not take part: {}\n",
                      command::counted(status.refused, "process", "processes"), refusal);
    if (status.joined == 0 && options.kernel.is_any()) {
        if (!options.is_quiet)
            command::tell("nsdump: {}: {}, {:.1f} MB; no process took part\n", options.output,
                          command::counted(kernel.drained, "kernel record"),
                          double(counts.file_bytes) / 1e6);
        return;
    }
    if (status.joined == 0) {
        command::tell("nsdump: nothing was recorded: no process {}; {}\n",
                      end != RecordEnd::kProgramEnded ? "had taken part when the recording ended"
                      : status.refused > 0            ? "took part"
                                                      : kWhyNobody,
                      access(options.output.c_str(), F_OK) == 0 ? options.output + " is unchanged"
                                                                : "no file was created");
        return;
    }
    if (options.pid == 0 && end == RecordEnd::kWriteError)
        command::tell(
            "nsdump: warning: sent SIGTERM to the program because its trace cannot be written\n");
    if (options.pid != 0 && end == RecordEnd::kProgramEnded && !options.is_quiet)
        command::tell("nsdump: process {} has ended\n", options.pid);
    tell_losses(counts);
    if (options.is_quiet)
        return;
    const std::string of_kernel =
        options.kernel.is_any() ? ", " + command::counted(kernel.drained, "kernel record") : "";
    command::tell("nsdump: {}: {} of {} issued, {}{}, {:.1f} MB\n", options.output,
                  command::counted(counts.drained, "record"), counts.issued,
                  command::counted(status.joined, "process", "processes"), of_kernel,
                  double(counts.file_bytes) / 1e6);
}

void tell_begin(const Options &options, int pid)
{
    const std::string of_kernel =
        options.kernel.groups.empty()
            ? ""
            : fmt::format(" and the kernel's groups {} with rings of {} KiB per CPU",
                          options.kernel.groups, options.kernel.ring_bytes >> 10);
    command::tell("nsdump: {}: recording process {} with rings of {} KiB per CPU{}\n",
                  options.output, pid, options.session.ring_bytes >> 10, of_kernel);
}

nslice_end end_of(RecordEnd end, Child *child)
{
    if (end == RecordEnd::kWriteError)
        return NSLICE_END_WRITE_ERROR;
    if (end != RecordEnd::kProgramEnded)
        return NSLICE_END_INTERRUPTED;
    return child && WIFSIGNALED(*child->poll()) ? NSLICE_END_KILLED : NSLICE_END_CLOSED;
}

// Everything requested was recorded: a program without probes is not an error if the kernel is
// recorded.
bool is_complete(const Options &options, const nsp_recorder_status &status, bool has_started)
{
    return has_started && status.refused == 0 && (status.joined > 0 || options.kernel.is_any());
}

int exit_code(const Options &options, RecordEnd end, Child *child,
              const nsp_recorder_status &status, bool has_started)
{
    if (end == RecordEnd::kWriteError)
        return kExitOutput;
    if (end == RecordEnd::kInterrupted)
        return kExitInterrupted;
    if (end == RecordEnd::kRefused)
        return kExitUnreadable;
    if (end == RecordEnd::kProgramEnded && child && WIFSIGNALED(*child->poll()))
        return 128 + WTERMSIG(*child->poll());
    if (end == RecordEnd::kProgramEnded && child && WEXITSTATUS(*child->poll()) != 0)
        return WEXITSTATUS(*child->poll());
    return is_complete(options, status, has_started) ? kExitOk : kExitFindings;
}

bool is_same_file(const std::string &path, int fd)
{
    struct stat named = {}, opened = {};
    return stat(path.c_str(), &named) == 0 && fstat(fd, &opened) == 0 &&
           named.st_dev == opened.st_dev && named.st_ino == opened.st_ino &&
           !S_ISCHR(opened.st_mode);
}

// What the kernel records continues while the programs' rings are paused.
void check_switch(const Options &options, const FunctionPlan &plan)
{
    if (options.signals.is_any() && !plan.traced.empty())
        throw command::UsageError("--start-on-signal and --stop-on-signal cannot be combined with "
                                  "functions by uprobes: the kernel records these and does not "
                                  "pause (use --function-by sleds)");
}

std::optional<RecordSwitch> switch_of(const Options &options)
{
    return options.signals.is_any() ? std::optional<RecordSwitch>(options.signals) : std::nullopt;
}

// Before a process participates.
void begin_switch(RecordSwitch &switched, nsp_recorder *recorder, const Options &options)
{
    switched.begin(recorder);
    if (const std::string how = switched.how_to_start(); !how.empty() && !options.is_quiet)
        command::tell("nsdump: {}: paused; `{}` starts the recording\n", options.output, how);
}

// What pauses left out, all together.
uint64_t stop(nsp_recorder *recorder)
{
    nsp_recorder_stop(recorder);
    return nsp_recorder_left_out(recorder);
}

void tell_left_out(const Options &options, uint64_t records)
{
    if (records > 0 && !options.is_quiet)
        command::tell("nsdump: {}: {} left out while paused\n", options.output,
                      command::counted(records, "record was", "records were"));
}

// Whether it did; without signals it always does.
bool tell_started(const Options &options, const std::optional<RecordSwitch> &switched,
                  const nsp_recorder_status &status)
{
    const std::string why_not = switched ? switched->why_not_started() : "";
    if (!why_not.empty() && status.joined > 0)
        command::tell("nsdump: warning: {}: nothing was recorded: {}; the trace is complete and "
                      "has no records\n",
                      options.output, why_not);
    return why_not.empty();
}

RecordLimits limits_of(const Options &options, std::optional<RecordSwitch> &switched)
{
    return {.seconds = options.seconds,
            .ring_bytes = options.session.ring_bytes,
            .is_overwrite = options.full == "overwrite",
            .is_quiet = options.is_quiet,
            .is_verbose = options.is_verbose,
            .switched = switched ? &*switched : nullptr};
}

void check_output(const std::string &path)
{
    if (path == "-" || is_same_file(path, STDOUT_FILENO) || is_same_file(path, STDERR_FILENO))
        throw command::UsageError(
            fmt::format("\"{}\": the trace cannot share the program's output (use a separate file "
                        "or a named pipe)",
                        path));
}

// Starts before the program so that nothing is missed.  A filter by process, and its functions,
// require the process to exist; it then waits.
void begin_kernel(KernelSide &side, nsp_recorder *recorder, KernelOptions options,
                  bool is_of_program, int pid, bool starts_program)
{
    if ((is_of_program || !options.functions.empty()) != (pid != 0))
        return;
    options.pid = is_of_program ? uint32_t(pid) : 0;
    options.functions_pid = uint32_t(pid);
    options.starts_program = starts_program;
    side.begin(recorder, options);
}

// A process without probes has functions.
void attach(nsp_recorder *recorder, const Options &options)
{
    if (nsp_recorder_attach(recorder, options.pid) == 0)
        return;
    if (command_was_interrupted())
        throw command::Interrupted();
    if (options.kernel.functions.empty())
        throw TraceError(nsp_last_error());
    if (!options.is_quiet)
        command::tell("nsdump: only functions are recorded: {}\n", nsp_last_error());
}

int run(Options options)
{
    check_output(options.output);
    const FunctionPlan plan =
        plan_functions(options.functions, options.program.empty() ? "" : options.program[0],
                       options.pid, options.is_quiet);
    options.kernel.functions = plan.traced;
    options.kernel.functions_reason = plan.reason;
    check_switch(options, plan);
    KernelSide kernel_side;
    std::optional<RecordSwitch> switched = switch_of(options);
    Recorder recorder = open_recorder_with(options);
    if (switched)
        begin_switch(*switched, recorder.get(), options);
    std::unique_ptr<Child> child;
    std::optional<RunningProcess> attached;
    begin_kernel(kernel_side, recorder.get(), options.kernel, options.is_kernel_of_program, 0,
                 options.pid == 0);
    if (options.pid != 0) {
        attached.emplace(options.pid);
        if (attached->has_ended())
            throw TraceError(fmt::format(
                "process {}: has already ended (give --pid the number of a running process)",
                options.pid));
        attach(recorder.get(), options);
    } else {
        child = std::make_unique<Child>(options.program, [&] {
            if (switched)
                RecordSwitch::restore_signals();
            prepare_for_sleds(plan);
            return nsp_recorder_prepare_exec(recorder.get());
        });
    }
    begin_kernel(kernel_side, recorder.get(), options.kernel, options.is_kernel_of_program,
                 child ? child->pid() : options.pid, options.pid == 0);
    if (command_was_interrupted())
        throw command::Interrupted();
    if (options.is_verbose)
        tell_begin(options, child ? child->pid() : options.pid);
    if (child)
        child->run();
    const RecordEnd end = record_until_end(recorder.get(), limits_of(options, switched),
                                           child.get(), attached ? &*attached : nullptr);
    nsp_recorder_status status;
    nsp_recorder_status_read(recorder.get(), &status);
    const std::string refusal = status.refusal;
    const nsp_session_counts kernel = kernel_side.end(recorder.get());
    const uint64_t left_out = stop(recorder.get());
    nsp_session_counts counts{};
    const int error = nsp_recorder_close(recorder.release(), end_of(end, child.get()), &counts);
    const std::string words = error != 0 ? nsp_last_error() : "";
    tell(options, end, status, refusal, counts, kernel);
    tell_left_out(options, left_out);
    if (error != 0 && error != -ENODATA)
        throw command::OutputError(words);
    if (!options.kernel.slices.empty() && error == 0)
        tell_selection(options.output);
    if (options.is_verbose && error == 0)
        tell_trace_facts(options.output);
    return exit_code(options, end, child.get(), status, tell_started(options, switched, status));
}

constexpr char kFooter[] =
    R"(An existing file is replaced only if it is empty or a trace, and only once a process
participates (with --kernel: when the program starts). The recording ends with the program and
those of its descendants that take part; a daemon is recorded until it exits.
Ctrl-C ends the program (or daemon) and the recording; the trace is complete. SIGTERM and SIGHUP
do the same, as does a failure to write the trace (disk full, pipe without a reader).

Exit codes, if the program did not fail (then its own, or 128 + n if signal n killed it):
  0    success, or the end of --duration
  1    no process took part, or one could not; or the signal to start never came
  2    invalid usage, including an unknown counter
  3    the program cannot be started, attached to or recorded with these options on this machine
  4    the trace cannot be written
  130  interrupted)";

void add_ring_options(command::ArgumentSet &arguments, Options &options)
{
    add_clock_option(arguments, options.session);
    arguments
        .add("--full", options.full,
             "when a ring is full: discard the new record or overwrite the oldest")
        .one_of({"discard", "overwrite"})
        .show_default();
    add_ring_option(arguments, options.session);
    arguments
        .add("--kind", options.kind, "how rings are written; auto: rseq if the program supports it")
        .one_of({"auto", "rseq", "atomic"})
        .show_default();
    arguments.add_flag("--no-calibration", options.no_calibration,
                       "skip calibration; the trace then has only raw values");
}

Check add_kernel_side(command::ArgumentSet &arguments, const std::shared_ptr<Options> &options)
{
    arguments
        .add("-k,--kernel", options->kernel.groups,
             "also record places in the kernel, e.g. irq,softirq,sched; `nsdump "
             "kernel --list` lists all")
        .kind("GROUPS")
        .check(command::is_given);
    const command::Argument own =
        arguments.add_flag("--kernel-own", options->is_kernel_of_program,
                           "kernel places that run in a process: only in this program");
    const std::vector<command::Argument> of_kernel = add_kernel_options(arguments, options->kernel);
    return [options, own, of_kernel] {
        if (options->kernel.groups.empty())
            command::refuse({own}, "requires --kernel");
        if (options->kernel.groups.empty() && options->functions.patterns.empty())
            command::refuse(of_kernel, "requires --kernel or --function");
    };
}

Check add_switch(command::ArgumentSet &arguments, const std::shared_ptr<Options> &options)
{
    const std::vector<command::Argument> signals = add_switch_options(arguments, options->signals);
    return [options, signals] {
        if (!options->kernel.groups.empty())
            command::refuse(signals, "cannot be combined with --kernel: the kernel's records do "
                                     "not pause");
        if (options->full == "overwrite")
            command::refuse(signals, "requires --full discard: rings whose oldest records are "
                                     "overwritten are read only at the end");
    };
}

Check add_function_options(command::ArgumentSet &arguments, const std::shared_ptr<Options> &options)
{
    arguments
        .add("--function", options->functions.patterns,
             "functions whose calls become slices without a change of the program; may be "
             "repeated; `nsdump functions PROGRAM` lists all")
        .kind("REGEX")
        .one_each_time()
        .check(is_function_pattern);
    const command::Argument by =
        arguments
            .add(
                "--function-by", options->functions.by,
                "sleds: code that the compiler left room for; uprobes: traps, slower, any program; "
                "auto: sleds if all matching functions have them")
            .one_of({"auto", "sleds", "uprobes"})
            .show_default();
    return [options, by] {
        if (options->functions.patterns.empty())
            command::refuse({by}, "requires --function");
    };
}

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<Options>();
    add_trace_output(arguments, options->output);
    const Check check_functions = add_function_options(arguments, options);
    const Check check_counters = add_counter_options(arguments, options->session);
    add_slices(arguments, options->kernel.slices);
    add_thin(arguments, options->kernel);
    const command::Argument control = arguments.add_flag(
        "--control", options->accepts_control,
        "let `nsdump control` change what is recorded; gives the program a thread");
    add_ring_options(arguments, *options);
    const command::Argument pid =
        arguments
            .add("-p,--pid", options->pid,
                 "attach to a process that accepts it (NETSLICE=attach=yes)")
            .kind("PID")
            .check(is_positive);
    arguments
        .add("-d,--duration", options->seconds,
             "stop after this many seconds; a program started here then receives SIGTERM")
        .kind("SECONDS")
        .check(is_duration);
    const Check check_kernel = add_kernel_side(arguments, options);
    const Check check_switch_options = add_switch(arguments, options);
    const command::Argument quiet = add_quiet(arguments, options->is_quiet);
    arguments.add_flag("-v,--verbose", options->is_verbose,
                       "also report processes that take part, and how the trace was recorded");
    const command::Argument program =
        arguments.add("program", options->program, "program and its arguments, after --");
    arguments.footer(kFooter);
    arguments.hint_at_separator("put -- before the program: nsdump record -- PROGRAM ...");
    arguments.at_end([options, pid, quiet, program, control, check_counters, check_kernel,
                      check_functions, check_switch_options] {
        if (!program.was_given() && !pid.was_given())
            throw command::WrongUse("a program (after --) or --pid is required");
        if (program.was_given())
            command::refuse({pid}, "cannot be combined with a program");
        if (pid.was_given())
            command::refuse({control}, "cannot be combined with --pid, which implies it");
        if (options->is_verbose)
            command::refuse({quiet}, "cannot be combined with --verbose");
        check_counters();
        check_kernel();
        check_functions();
        check_switch_options();
    });
    return [options] { return run(*options); };
}
} // namespace

const Command kRecord = {"record", "Record a program, or a running process, into a trace", add};
} // namespace nsdump
