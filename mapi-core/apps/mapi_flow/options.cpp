// SPDX-License-Identifier: MIT
// options: command line -> struct.
#include "options.hpp"

#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>

#include "command/arguments.hpp"

namespace mapi_flow
{
namespace
{
constexpr const char *kFooter =
    "A flow is functions with their arguments, a bar between; quotation marks, ' or \", hold words with blanks or bars; @2 is the\n"
    "flow's second function.  mapi(3) tells of each.\n"
    "Prints a line for each function: flow.function, name, packets that came, that passed, dropped, result, with tabs between; and one for\n"
    "each packet of TO_BUFFER and each result of functions that give them one by one.\n"
    "\n"
    "examples:\n"
    "  mapi-flow trace.pcap 'BPF_FILTER \"tcp port 80\" | STR_SEARCH \"GET /\" 0 0 | PKT_COUNTER'\n"
    "  mapi-flow trace.pcap \"ANONYMIZE 'IP,SRC_IP,PREFIX_PRESERVING' | TO_FILE 0 anonymous.pcap 0\"\n"
    "  mapi-flow -i eth0 -t 1 'BPF_FILTER udp | PERF_START | TOP 5 1 9 | PERF_STOP'\n"
    "  mapi-flow -i eth0 -d 10 'PKTINFO 1 | STATS @1 0 | DIST @1 0 1500 100'\n"
    "\n"
    "exit status: 0 done; 1 the capture is damaged, or packets or results were lost; 2 wrong usage; 3 the source or a function was\n"
    "refused, or the output cannot be written; 130 interrupted while reading a capture";

// Empty: it is right.
std::string check_seconds(const std::string &text)
{
    char *end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == 0 && seconds > 0 && std::isfinite(seconds) ? "" : "\"" + text + "\" is no time in seconds above 0";
}
} // namespace

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    command::Arguments arguments("mapi-flow: applies functions of MAPI to a capture or a network interface and prints their results.");
    arguments.footer(kFooter);
    arguments.version("-V,--version", std::string("mapi-flow ") + NETSLICE_VERSION);
    arguments.add("source", options.source, "capture, pcap or pcapng, also compressed; with -i an interface, or a device of mapi.conf").required();
    arguments.add("flow", options.flows, "functions of a flow").required();
    arguments.add_flag("-i,--interface", options.is_device, "the source is a network interface, or a device of mapi.conf");
    const command::Argument erf = arguments.add_flag("-E,--erf", options.is_erf, "the capture is an ERF file of a DAG card");
    command::Argument duration = arguments.add("-d,--duration", options.seconds, "seconds that an interface is read; without: until Ctrl-C");
    command::Argument interval = arguments.add("-t,--interval", options.interval_s, "seconds between results; without: at the end alone");
    arguments.add("-b,--buffer", options.buffer_bytes, "bytes of TO_BUFFER, and of functions whose results come one by one; without: 4 MiB, and what they need");
    arguments.add("-s,--snaplen", options.snap_bytes, "bytes of each packet that TO_BUFFER and TO_FILE keep; without: all");
    for (command::Argument *time : {&duration, &interval})
        time->check(check_seconds, "SECONDS");
    if (const auto reply = arguments.parse(argc, argv)) {
        (reply->is_wrong ? std::cerr : std::cout) << reply->text;
        return reply->is_wrong ? kExitUsage : kExitDone;
    }
    if (options.is_device && erf.was_given()) {
        std::cerr << "mapi-flow: --erf is of a capture, --interface of none\n";
        return kExitUsage;
    }
    if (!options.is_device && duration.was_given()) {
        std::cerr << "mapi-flow: a capture is read to its end: --duration needs --interface\n";
        return kExitUsage;
    }
    return std::nullopt;
}
} // namespace mapi_flow
