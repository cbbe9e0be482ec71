// SPDX-License-Identifier: MIT
// options: command line -> struct.
#include "options.hpp"

#include <cmath>
#include <cstdlib>

#include "common/command/arguments.hpp"
#include "engine/config/config_file.hpp"
#include "ipc/run_time.hpp"

namespace mapi_info
{
namespace
{
constexpr double kMostSeconds = 1e9;
constexpr double kLeastCostSeconds = 0.01;
constexpr double kMostCostSeconds = 10;

constexpr const char *kFooter =
    "Root and the user that mapid runs as see all flows and may record; other users see their own "
    "flows, and the devices that they may use.\n"
    "\n"
    "Examples:\n"
    "  mapi-info\n"
    "  mapi-info functions | awk '$6 == \"BPF_FILTER\"'\n"
    "  mapi-info --json | jq '.devices[] | {device, drops}'\n"
    "  mapi-info record -w mapid.nsl -d 10 && nsdump stats mapid.nsl\n"
    "  mapi-info cost --json | jq '.costs[] | {device, net_ns: .net.net_ns}'\n"
    "\n"
    "Exit codes: 0 success; 1 the trace lacks records, mapid could not write all of it, or has "
    "exited, or a cost could not be\n"
    "measured; 2 invalid usage; 3 mapid does not answer or refuses, or the output cannot be "
    "written";

std::string is_duration(const std::string &text)
{
    char *end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    const bool is_good = end != text.c_str() && *end == 0 && seconds > 0 && seconds <= kMostSeconds;
    return is_good ? "" : "\"" + text + "\" is not a positive number of seconds (at most 1e9)";
}

std::string is_cost_duration(const std::string &text)
{
    char *end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    const bool is_good = end != text.c_str() && *end == 0 && seconds >= kLeastCostSeconds &&
                         seconds <= kMostCostSeconds;
    return is_good ? "" : "\"" + text + "\" is not a number of seconds from 0.01 to 10";
}

std::string check_trace(const std::string &text)
{
    if (text == "-")
        return "the trace cannot be written to standard output (specify a file)";
    return command::is_given(text);
}

// Of lists; to find out whether they were given with a command that prints none.
struct ListOptions {
    command::Argument format, output;
};

// Of the program, and again of each command, so that its help has them.
void add_socket(command::ArgumentSet &set, Options &options)
{
    set.add("--socket", options.socket,
            "mapid's socket; default: $MAPI_SOCKET, ~/.mapid.sock if mapi.conf sets local=1, " +
                mapi::ipc::standard_socket())
        .kind("PATH")
        .check(command::is_given);
}

ListOptions add_list_options(command::ArgumentSet &set, Options &options)
{
    const command::Argument format = set.add_format(options.format, {"text", "json"});
    const command::Argument output =
        set.add("-o,--output", options.output, "file to print to; -: standard output (default)")
            .kind("FILE")
            .check(command::is_given);
    return {format, output};
}

command::ArgumentSet add_command(command::Arguments &arguments, Options &options, const char *name,
                                 const char *help, Command command)
{
    command::ArgumentSet added = arguments.add_command(name, help);
    added.at_end([&options, command] { options.command = command; });
    add_socket(added, options);
    if (command != Command::kRecord)
        add_list_options(added, options);
    return added;
}

void add_cost(command::Arguments &arguments, Options &options)
{
    command::ArgumentSet cost =
        add_command(arguments, options, "cost",
                    "Measure what the functions that run in the kernel cost a packet: each run of "
                    "the device's program, and its net cost by test runs of a copy on packets that "
                    "arrive meanwhile.",
                    Command::kCost);
    cost.add("device", options.device,
             "device of mapid (default: each that is open and runs functions in the kernel)")
        .kind("DEVICE")
        .check(command::is_given);
    cost.add("-d,--duration", options.cost_seconds,
             "time in which runs are counted and packets taken, 0.01 to 10")
        .kind("SECONDS")
        .show_default()
        .check(is_cost_duration);
}

void add_record(command::Arguments &arguments, Options &options)
{
    command::ArgumentSet record = add_command(
        arguments, options, "record",
        "Record mapid's probes into a trace, for a given time or until Ctrl-C.", Command::kRecord);
    record
        .add("-w,--write", options.trace,
             "trace file to write; replaces an existing trace, but no other file")
        .kind("FILE")
        .show_default()
        .check(check_trace);
    record
        .add("-d,--duration", options.seconds, "duration of the recording (default: until Ctrl-C)")
        .kind("SECONDS")
        .check(is_duration);
    record
        .add("--slices", options.slices,
             "slices and marks to record, e.g. 'BPF_*,!publish' (default: all)")
        .kind("PATTERNS")
        .check(command::is_given);
    record.add_flag("-q,--quiet", options.is_quiet,
                    "no progress and no notes; only errors and what is missing");
}
} // namespace

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    command::Arguments arguments("Show what a running mapid does (devices, flows, functions, lost "
                                 "packets), or record its probes.",
                                 "mapi-info");
    arguments.footer(kFooter);
    arguments.version("mapi-info " NETSLICE_VERSION);
    arguments.allow_command();
    options.socket = mapi::ipc::socket_path(mapi::engine::is_mapid_local());
    add_socket(arguments, options);
    const ListOptions lists = add_list_options(arguments, options);
    add_command(arguments, options, "devices",
                "List devices: driver, flows, packets, and drops by cause.", Command::kDevices);
    add_command(arguments, options, "flows",
                "List flows: client, device, and functions as NAME=SEEN/PASSED.", Command::kFlows);
    add_command(arguments, options, "functions",
                "List functions, one per line: packets seen, passed and dropped, and how many "
                "other flows share each.",
                Command::kFunctions);
    add_cost(arguments, options);
    add_record(arguments, options);
    arguments.at_end([&] {
        if (options.command != Command::kRecord)
            return;
        if (lists.format.was_given() || options.format == "json")
            throw command::WrongUse("record cannot be combined with --format or --json");
        if (lists.output.was_given())
            throw command::WrongUse("record cannot be combined with -o (-w names the trace)");
    });
    if (const auto reply = arguments.parse(argc, argv)) {
        reply->print();
        return reply->is_wrong ? kExitUsage : kExitOk;
    }
    return std::nullopt;
}
} // namespace mapi_info
