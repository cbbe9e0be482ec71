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

constexpr const char *kFooter =
    "Root and the user that mapid runs as see all flows and may record; other users see their own "
    "flows, and the devices that they may use.\n"
    "\n"
    "examples:\n"
    "  mapi-info\n"
    "  mapi-info functions | awk '$6 == \"BPF_FILTER\"'\n"
    "  mapi-info --json | jq '.devices[] | {device, drops}'\n"
    "  mapi-info record -w mapid.nsl -d 10 && nsdump stats mapid.nsl\n"
    "\n"
    "exit status: 0 success; 1 the trace lacks records, mapid could not write all of it, or has "
    "exited; 2 usage error; 3 mapid does not\n"
    "answer or refuses, or the output cannot be written";

std::string is_duration(const std::string &text)
{
    char *end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    const bool is_good = end != text.c_str() && *end == 0 && seconds > 0 && seconds <= kMostSeconds;
    return is_good ? "" : text + " is not a number of seconds above 0 and at most 1e9";
}
} // namespace

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    command::Arguments arguments("Shows what a running mapid does (devices, flows, functions, lost "
                                 "packets) and records its probes.",
                                 "mapi-info");
    arguments.footer(kFooter);
    arguments.version("mapi-info " NETSLICE_VERSION);
    arguments.allow_command();
    options.socket = mapi::ipc::socket_path(mapi::engine::is_mapid_local());
    arguments
        .add("--socket", options.socket,
             "mapid's socket; default: $MAPI_SOCKET, " + mapi::ipc::standard_socket())
        .kind("PATH");
    arguments.add_format(options.format, {"text", "json"});
    const command::Argument output =
        arguments
            .add("-o,--output", options.output, "file to print to; -: standard output (default)")
            .kind("FILE");
    const auto add = [&](const char *name, const char *help, Command command) {
        command::ArgumentSet added = arguments.add_command(name, help);
        added.at_end([&options, command] { options.command = command; });
        return added;
    };
    add("devices", "list devices: driver, flows, packets, drops by cause", Command::kDevices);
    add("flows", "list flows: client, device, and functions as NAME=SEEN/PASSED", Command::kFlows);
    add("functions",
        "list functions of flows, one per line: packets seen, passed and dropped, and flows that "
        "share it",
        Command::kFunctions);
    command::ArgumentSet record =
        add("record", "record mapid's probes into a trace, for a given time or until Ctrl-C",
            Command::kRecord);
    record
        .add("-w,--write", options.trace,
             "trace file to write; replaces an existing trace, but no other file")
        .kind("FILE")
        .show_default();
    record
        .add("-d,--duration", options.seconds, "duration of the recording (default: until Ctrl-C)")
        .kind("SECONDS")
        .check(is_duration);
    record.add_flag("-q,--quiet", options.is_quiet,
                    "no progress and no notes; only errors and what is missing");
    arguments.at_end([&] {
        if (options.command == Command::kRecord && options.format == "json")
            throw command::WrongUse("record cannot be combined with --format json");
        if (options.command == Command::kRecord && output.was_given())
            throw command::WrongUse("record cannot be combined with -o (-w names the trace)");
        if (options.trace.empty() || (output.was_given() && options.output.empty()))
            throw command::WrongUse("-o and -w require a file name");
    });
    if (const auto reply = arguments.parse(argc, argv)) {
        reply->print();
        return reply->is_wrong ? kExitUsage : kExitOk;
    }
    return std::nullopt;
}
} // namespace mapi_info
