// SPDX-License-Identifier: MIT
// nsdump kernel: places in the kernel, listed or recorded without a program.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/read/analysis.hpp"
#include "cli/record/kernel_groups.hpp"
#include "cli/record/kernel_programs.hpp"
#include "cli/record/kernel_side.hpp"
#include "cli/record/record_loop.hpp"
#include "cli/record/recorder.hpp"
#include "cli/record/trace_facts.hpp"
#include "common/command/arguments.hpp"
#include "common/command/counted.hpp"
#include "common/command/output.hpp"
#include "common/command/tell.hpp"
#include "decode/error.hpp"
#include "export/exporter.hpp"

namespace nsdump
{
namespace
{
struct Options {
    bool is_list = false;
    std::string format = "text";
    std::string preset;
    std::string clock = "fast";
    std::string trace = "kernel.nsl";
    std::string output;
    bool is_quiet = false;
    double seconds = 0;
    KernelOptions kernel;
};

int list(const Options &options)
{
    command::Output output(options.output);
    const std::vector<KernelPlace> places = parse_groups(kernel_groups_text());
    output.text() = options.format == "json" ? groups_json(places) : groups_text(places);
    output.finish();
    return kExitOk;
}

// Name of a preset -> its group.
std::string group_of_preset(std::string preset)
{
    for (char &letter : preset)
        letter = letter == '-' ? '_' : letter;
    return preset;
}

int show(const Options &options)
{
    const StatsReport report = analyse_trace(options.trace);
    command::Output output(options.output, {options.trace});
    output.text() = options.format == "json" ? stats_json(report) : stats_text(report);
    output.finish();
    return report.has_findings() ? kExitFindings : kExitOk;
}

int record(Options options)
{
    if (!options.preset.empty())
        options.kernel.groups = group_of_preset(options.preset);
    nsp_session_config config{};
    config.struct_size = sizeof config;
    config.output = options.trace.c_str();
    config.clock = options.clock == "ordered" ? NSP_CLOCK_ORDERED : NSP_CLOCK_FAST;
    KernelSide kernel_side;
    Recorder recorder = open_recorder(config);
    kernel_side.begin(recorder.get(), options.kernel);
    const RecordLimits limits = {options.seconds, options.kernel.ring_bytes, false,
                                 options.is_quiet, false};
    const RecordEnd end = record_until_end(recorder.get(), limits, nullptr, nullptr);
    const nsp_session_counts kernel = kernel_side.end(recorder.get());
    nsp_session_counts counts{};
    const bool is_written = end != RecordEnd::kWriteError;
    if (nsp_recorder_close(recorder.release(),
                           is_written ? NSLICE_END_CLOSED : NSLICE_END_WRITE_ERROR, &counts) != 0)
        throw command::OutputError(nsp_last_error());
    if (!options.kernel.slices.empty() && is_written)
        tell_selection(options.trace);
    if (!options.is_quiet)
        command::tell("nsdump: {}: {} of {} issued, {:.1f} MB\n", options.trace,
                      command::counted(kernel.drained, "record"), kernel.issued,
                      double(counts.file_bytes) / 1e6);
    return options.preset.empty() ? kExitOk : show(options);
}

// What was given on the command line, to be checked together.
struct Given {
    command::Argument groups, preset, format, output, thin;
    std::vector<command::Argument> of_recording;
};

void check(const Options &options, const Given &given)
{
    if (options.is_list) {
        command::refuse({given.groups, given.preset}, "cannot be combined with --list");
        command::refuse(given.of_recording, "cannot be combined with --list");
        return;
    }
    if (!has_programs_group(options.kernel.groups))
        command::refuse({given.thin}, "requires the group programs");
    if (!given.preset.was_given()) {
        if (!given.groups.was_given())
            throw command::WrongUse("groups, --preset or --list is required");
        command::refuse({given.format, given.output}, "requires --list or --preset");
        if (options.format == "json")
            throw command::WrongUse("--json requires --list or --preset");
        return;
    }
    command::refuse({given.groups}, "cannot be combined with --preset");
}

std::vector<command::Argument> add_recording_options(command::ArgumentSet &arguments,
                                                     Options &options)
{
    const command::Argument trace = add_trace_output(arguments, options.trace);
    const command::Argument pid =
        arguments
            .add("-p,--pid", options.kernel.pid, "places that run in a process: only in this one")
            .kind("PID")
            .check(is_positive);
    const command::Argument thread =
        arguments
            .add("--thread", options.kernel.thread,
                 "places that run in a thread: only in this one (requires the recorder bpf)")
            .kind("TID")
            .check(is_positive);
    const command::Argument clock =
        arguments.add("--clock", options.clock, "ordered: fenced clock reads")
            .one_of({"fast", "ordered"})
            .show_default();
    const command::Argument seconds =
        arguments.add("-d,--duration", options.seconds, "stop after this many seconds")
            .kind("SECONDS")
            .check(is_duration);
    const command::Argument slices = add_slices(arguments, options.kernel.slices);
    std::vector<command::Argument> all = add_kernel_options(arguments, options.kernel);
    all.insert(all.end(), {trace, pid, thread, clock, seconds, slices});
    return all;
}

constexpr char kFooter[] =
    R"(Requires the module nsmod or, without it, a kernel with BTF; to record, root, or CAP_PERFMON,
and with BPF also CAP_BPF. Without --duration Ctrl-C ends
the recording; the trace is complete. `record --kernel GROUPS -- PROGRAM` records a program and
the kernel on one clock.

Exit codes:
  0    success
  1    the trace has findings
  2    invalid usage, or an unknown group
  3    no module, permission denied, or a counter that is unavailable on this machine
  4    the trace cannot be written)";

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<Options>();
    const command::Argument groups =
        arguments
            .add("groups", options->kernel.groups,
                 "groups to record, e.g. net_rx,irq; \"modules\": only NET_SLICE_* probes in "
                 "kernel modules; \"programs\": those in BPF programs")
            .check(command::is_given);
    arguments.add_flag("--list", options->is_list,
                       "list all groups and their places, and whether this kernel has them");
    const command::Argument preset =
        arguments
            .add("--preset", options->preset,
                 "follow TCP packets from place to place; print a table of their costs at the end")
            .one_of({"tcp-send", "tcp-recv"});
    const command::Argument format = arguments.add_format(
        options->format, {"text", "json"}, "with --list or --preset: format of the output");
    const command::Argument output =
        add_output(arguments, options->output, "with --list or --preset: file to print to");
    const command::Argument thin = add_thin(arguments, options->kernel);
    std::vector<command::Argument> of_recording = add_recording_options(arguments, *options);
    of_recording.push_back(thin);
    const Given given = {groups, preset, format, output, thin, of_recording};
    add_quiet(arguments, options->is_quiet);
    arguments.footer(kFooter);
    arguments.at_end([options, given] { check(*options, given); });
    return [options] { return options->is_list ? list(*options) : record(*options); };
}
} // namespace

const Command kKernel = {"kernel", "List or record places in the kernel", add};
} // namespace nsdump
