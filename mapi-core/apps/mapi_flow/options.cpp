// SPDX-License-Identifier: MIT
// options: command line -> struct.
#include "options.hpp"

#include <cstdint>
#include <string>

#include <mapi/mapi.h>

#include "captures/source_arguments.hpp"
#include "common/command/arguments.hpp"
#include "common/command/numbers.hpp"

namespace mapi_flow
{
namespace
{
constexpr const char *kFooter =
    "A flow is a list of functions with their arguments, separated by bars. Quote words that "
    "contain blanks or bars with ' or \";\n"
    "@2 is the flow's second function. mapi(3) describes all functions.\n"
    "As text, prints a line for each function, separated by tabs: flow.function, name, packets "
    "received, passed and dropped, result;\n"
    "and a line for each packet of TO_BUFFER and each result of functions that return results one "
    "at a time. JSON is one object per line.\n"
    "\n"
    "Examples:\n"
    "  mapi-flow -r trace.pcap 'BPF_FILTER \"tcp port 80\" | STR_SEARCH \"GET /\" 0 0 | "
    "PKT_COUNTER'\n"
    "  mapi-flow -r trace.pcap \"ANONYMIZE 'IP,SRC_IP,PREFIX_PRESERVING' | TO_FILE 0 "
    "anonymous.pcap 0\"\n"
    "  mapi-flow -r day 'EXPIRED_FLOWS 60 0 0'\n"
    "  mapi-flow -i eth0 'TO_FILE 5 found.pcapng 0 size=100M,files=10'\n"
    "  mapi-flow -i eth0 --interval 1 'BPF_FILTER udp | PERF_START | TOP 5 1 9 | PERF_STOP'\n"
    "  mapi-flow -i eth0 -d 10 'PKTINFO 1 | STATS @1 0 | DIST @1 0 1500 100'\n"
    "\n"
    "Exit codes: 0 success; 1 the capture is damaged, or packets or results were lost; 2 invalid "
    "usage; 3 the source or a function\n"
    "was refused, or the output cannot be written; 130 interrupted while reading a capture or "
    "waiting for an interface";

// What options ask for together and cannot have; null: nothing.
const char *find_wrong(const Options &options, bool has_duration)
{
    if (const char *const wrong = captures_source::find_wrong(options.source, has_duration))
        return wrong;
    if (options.flows.empty())
        return "a flow is required, such as 'BPF_FILTER tcp | PKT_COUNTER'";
    return nullptr;
}
} // namespace

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    command::Arguments arguments(
        "Apply MAPI functions to captures or a network interface and print their results.",
        "mapi-flow");
    arguments.footer(kFooter);
    arguments.version("mapi-flow " NETSLICE_VERSION);
    arguments.add("flow", options.flows, "functions of a flow");
    captures_source::add_source(arguments, options.source);
    captures_source::add_count_and_wait(arguments, options.source);
    const command::Argument duration = captures_source::add_duration(arguments, options.seconds);
    arguments
        .add("--interval", options.interval_s, "time between results (default: only at the end)")
        .kind("SECONDS")
        .check(command::check_duration);
    arguments
        .add("--buffer", options.buffer_bytes,
             "size of TO_BUFFER, and of result rings (default: 4 MiB, and what the functions need)")
        .kind("BYTES")
        .range(uint64_t{MAPI_BUFFER_BYTES_LEAST}, uint64_t{MAPI_BUFFER_BYTES_MOST});
    arguments
        .add("-s,--snaplen", options.snap_bytes,
             "bytes of each packet that TO_BUFFER and TO_FILE keep (default: all)")
        .kind("BYTES")
        .range(uint64_t{1}, uint64_t{UINT32_MAX});
    arguments.add_format(options.format, {"text", "json"});
    arguments.add("-o,--output", options.output, "file to print to; -: standard output (default)")
        .kind("FILE")
        .check(command::is_given);
    arguments.add_flag("-q,--quiet", options.is_quiet, "no notes; only errors and what is missing");
    arguments.at_end([&] {
        if (const char *const wrong = find_wrong(options, duration.was_given()))
            throw command::WrongUse(wrong);
    });
    if (const auto reply = arguments.parse(argc, argv)) {
        reply->print();
        return reply->is_wrong ? kExitUsage : kExitDone;
    }
    options.source.program = options.is_quiet ? nullptr : "mapi-flow";
    return std::nullopt;
}
} // namespace mapi_flow
