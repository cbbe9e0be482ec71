// SPDX-License-Identifier: MIT
// options: command line -> struct.
#include "options.hpp"

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <sstream>

#include <CLI/CLI.hpp>

#include "command/output.hpp"
#include "engine/config_file.hpp"
#include "ipc/run_time.hpp"

namespace mapi_info
{
namespace
{
constexpr double kMostSeconds = 1e9;

constexpr const char *kFooter = "Root and the user that mapid runs as see all flows and may record; others see their own flows, and the devices that they may use.\n"
                                "\n"
                                "examples:\n"
                                "  mapi-info\n"
                                "  mapi-info functions | awk '$6 == \"BPF_FILTER\"'\n"
                                "  mapi-info --json | jq '.devices[] | {device, drops}'\n"
                                "  mapi-info record -o mapid.nsl -d 10 && nsdump stats mapid.nsl\n"
                                "\n"
                                "exit status: 0 done; 1 the trace lacks records, or mapid could not write it whole; 2 wrong usage; 3 no mapid answers, it\n"
                                "refuses, or the output cannot be written";

std::string is_duration(const std::string &text)
{
    char *end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    const bool is_good = end != text.c_str() && *end == 0 && seconds > 0 && seconds <= kMostSeconds;
    return is_good ? "" : text + " is not a number of seconds above 0 and up to 1e9";
}
} // namespace

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    CLI::App app{"Shows what a running mapid does: devices, flows, functions, where packets were lost; records its probes.", "mapi-info"};
    app.footer(kFooter);
    app.set_version_flag("-V,--version", "mapi-info " NETSLICE_VERSION);
    app.fallthrough();
    app.require_subcommand(0, 1);
    options.socket = mapi::ipc::socket_path(mapi::engine::is_mapid_local());
    app.add_option("-s,--socket", options.socket, "where mapid listens; default $MAPI_SOCKET, " + mapi::ipc::standard_socket())->option_text("PATH");
    app.add_flag("-j,--json", options.is_json, "JSON (netslice-mapi-info-1) instead of tables");
    const auto add = [&](const char *name, const char *help, Command command) {
        CLI::App *const added = app.add_subcommand(name, help);
        added->callback([&options, command] { options.command = command; });
        return added;
    };
    add("devices", "devices: driver, flows, packets, drops by cause", Command::kDevices);
    add("flows", "flows: whose, of which device, and their functions as NAME=SEEN/PASSED", Command::kFlows);
    add("functions", "functions of flows, one a line: packets seen and passed, dropped, flows that share it", Command::kFunctions);
    CLI::App *const record = add("record", "record mapid's probes into a trace, for a time or until Ctrl-C", Command::kRecord);
    record->add_option("-o,--output", options.output, "trace file to write; an older trace is replaced, another file is not")->option_text("FILE")->capture_default_str();
    record->add_option("-d,--duration", options.seconds, "seconds after which recording ends")->option_text("SECONDS")->check(is_duration);
    try {
        app.parse(argc, argv);
        if (options.command == Command::kRecord && options.is_json)
            throw CLI::ValidationError("record writes a trace: --json is for lists");
        if (options.output.empty())
            throw CLI::ValidationError("--output needs the name of a file");
    } catch (const CLI::ParseError &error) {
        std::ostringstream text;
        const bool is_asked_for = app.exit(error, text, std::cerr) == 0;
        command::write_whole("-", text.str());
        return is_asked_for ? kExitOk : kExitUsage;
    }
    return std::nullopt;
}
} // namespace mapi_info
