// SPDX-License-Identifier: MIT
#include "options.hpp"

#include <mapi/mapi.h>

#include "captures/source_arguments.hpp"
#include "common/command/arguments.hpp"
#include "common/command/numbers.hpp"

namespace sids
{
namespace
{
constexpr const char *kFooter =
    "A rule is one line: an action (count, or copy: also write the packets to a file), a filter as "
    "of tcpdump, and options that a\n"
    "packet must match, such as\n"
    "  count tcp and dst port 80; content: /bin/perl.exe; id:100;\n"
    "sids(1) has the grammar; snort2sids(1) converts rules of Snort.\n"
    "\n"
    "Signals: SIGHUP reads the rule files again; SIGUSR1 prints the table now; SIGINT and SIGTERM "
    "end the program with the table.\n"
    "\n"
    "Examples:\n"
    "  sids -R web.rules -r trace.pcap\n"
    "  sids -R web.rules -r day --json -o alerts.json\n"
    "  sids -R web.rules -i eth0 --alerts alerts.json --copy-folder packets\n"
    "\n"
    "Exit codes: 0 success; 1 the capture is damaged, or packets were lost or not judged; 2 "
    "invalid "
    "usage or an error in the rules;\n"
    "3 the source was refused, mapid has ended, or the output cannot be written; 4 no rule matched "
    "(only with --exit-matched);\n"
    "130 interrupted while reading a capture or waiting for an interface";

// What options ask for together and cannot have; null: nothing.
const char *find_wrong(const Options &options, bool has_duration)
{
    const bool has_source = options.source.is_device() || !options.source.captures.empty();
    if (options.is_check && has_source)
        return "--check needs no source";
    if (!options.is_check) {
        if (const char *const wrong = captures_source::find_wrong(options.source, has_duration))
            return wrong;
    }
    if (options.is_json() && !options.alerts.empty())
        return "--alerts cannot be combined with --json (which prints the alerts)";
    return nullptr;
}

void add_output(command::Arguments &arguments, Options &options)
{
    arguments.add_format(options.format, {"text", "json"},
                         "a table of rules, or alerts, one a line, as in Suricata's EVE");
    arguments
        .add(
            "-o,--output", options.output,
            "file to print to; -: standard output (default). Alerts are added to the file, a table "
            "replaces it")
        .kind("FILE")
        .check(command::is_given);
    arguments.add("--alerts", options.alerts, "also add alerts as JSON to this file")
        .kind("FILE")
        .check(command::is_given);
    arguments
        .add("--copy-folder", options.copy_folder,
             "folder for the captures of rules with copy, named ID.pcapng (default: the current "
             "one)")
        .kind("FOLDER")
        .check(command::is_given);
    arguments
        .add("--classification", options.classification,
             "file of Snort with categories and priorities of classtypes")
        .kind("FILE")
        .check(command::is_given);
    arguments.add_flag("--all", options.are_all_shown, "also show rules without packets");
    arguments
        .add("--interval", options.interval_s,
             "time between tables (default: only at the end; on a terminal a second)")
        .kind("SECONDS")
        .check(command::check_duration);
    arguments
        .add("--buffer", options.buffer_bytes,
             "room for the waiting alerts of each rule (default: by the number of rules)")
        .kind("BYTES")
        .range(uint64_t{MAPI_BUFFER_BYTES_LEAST}, uint64_t{MAPI_BUFFER_BYTES_MOST});
    arguments.add_flag("--exit-matched", options.is_match_needed,
                       "exit with 4 if no rule matched a packet");
    arguments.add_flag("-q,--quiet", options.is_quiet,
                       "no progress and no notes; only errors and what is missing");
}
} // namespace

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    command::Arguments arguments(
        "Find the packets of captures or of a network interface that match rules.", "sids");
    arguments.footer(kFooter);
    arguments.version("sids " NETSLICE_VERSION);
    arguments.add("-R,--rules", options.rules, "file of rules; may be repeated")
        .kind("FILE")
        .one_each_time()
        .required()
        .check(command::is_given);
    arguments.add_flag("--check", options.is_check, "only check the rules");
    arguments.add_flag("--cooked", options.are_all_cooked,
                       "all rules inspect reassembled streams, as if they had the option cooked");
    captures_source::add_source(arguments, options.source);
    captures_source::add_count_and_wait(arguments, options.source);
    const command::Argument duration = captures_source::add_duration(arguments, options.seconds);
    add_output(arguments, options);
    arguments.at_end([&] {
        if (const char *const wrong = find_wrong(options, duration.was_given()))
            throw command::WrongUse(wrong);
    });
    if (const auto reply = arguments.parse(argc, argv)) {
        reply->print();
        return reply->is_wrong ? kExitUsage : kExitDone;
    }
    options.source.program = options.is_quiet ? nullptr : "sids";
    return std::nullopt;
}
} // namespace sids
