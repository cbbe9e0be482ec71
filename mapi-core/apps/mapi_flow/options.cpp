// SPDX-License-Identifier: MIT
// options: command line -> struct.
#include "options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/command/arguments.hpp"

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
    "  mapi-flow day/*.pcap -- 'EXPIRED_FLOWS 60 0 0'\n"
    "  mapi-flow -i eth0 'TO_FILE 5 found.pcapng 0 size=100M,files=10'\n"
    "  mapi-flow -i eth0 -t 1 'BPF_FILTER udp | PERF_START | TOP 5 1 9 | PERF_STOP'\n"
    "  mapi-flow -i eth0 -d 10 'PKTINFO 1 | STATS @1 0 | DIST @1 0 1500 100'\n"
    "\n"
    "exit status: 0 done; 1 the capture is damaged, or packets or results were lost; 2 wrong usage; 3 the source or a function was\n"
    "refused, or the output cannot be written; 130 interrupted while reading a capture,\n"
    "or while waiting for an interface";

// Empty: it is right.
std::string check_seconds(const std::string &text)
{
    char *end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == 0 && seconds > 0 && std::isfinite(seconds) ? "" : "\"" + text + "\" is no time in seconds above 0";
}

// What the words that have a place mean.  behind: so many of them stand behind "--", which ends a list of captures.
void place_words(Options &options, const std::string &source, size_t behind)
{
    std::vector<std::string> words = std::move(options.flows);
    words.insert(words.begin(), source);
    size_t captures = options.captures.empty() ? 1 : 0;
    if (behind < words.size())
        captures = words.size() - behind;
    if (options.is_device)
        options.device = words[0];
    else
        options.captures.insert(options.captures.end(), words.begin(), words.begin() + ptrdiff_t(captures));
    options.flows.assign(words.begin() + ptrdiff_t(options.is_device ? 1 : captures), words.end());
}
} // namespace

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    command::Arguments arguments("mapi-flow: applies functions of MAPI to a capture or a network interface and prints their results.");
    arguments.footer(kFooter);
    arguments.version("-V,--version", std::string("mapi-flow ") + NETSLICE_VERSION);
    std::string source;
    arguments.add("source", source, "capture, pcap or pcapng, also compressed, or a folder of captures, or - for standard input; with -i an interface, or a device of "
                                    "mapi.conf").required();
    arguments.add("flow", options.flows, "functions of a flow");
    arguments.add("-r,--read", options.captures, "another capture, or folder; may be given several times; all other words are flows").one_each_time();
    arguments.add_flag("-i,--interface", options.is_device, "the source is a network interface, or a device of mapi.conf");
    const command::Argument erf = arguments.add_flag("-E,--erf", options.is_erf, "the capture is an ERF file of a DAG card");
    command::Argument duration = arguments.add("-d,--duration", options.seconds, "seconds that an interface is read; without: until Ctrl-C");
    command::Argument interval = arguments.add("-t,--interval", options.interval_s, "seconds between results; without: at the end alone");
    arguments.add("-b,--buffer", options.buffer_bytes, "bytes of TO_BUFFER, and of functions whose results come one by one; without: 4 MiB, and what they need");
    arguments.add("-s,--snaplen", options.snap_bytes, "bytes of each packet that TO_BUFFER and TO_FILE keep; without: all");
    arguments.add_flag("-w,--wait", options.waits, "wait for an interface that is not there yet");
    arguments.add_flag("-j,--json", options.is_json, "print JSON, one object a line");
    for (command::Argument *time : {&duration, &interval})
        time->check(check_seconds, "SECONDS");
    const int end = int(std::find(argv, argv + argc, std::string_view("--")) - argv);
    std::vector<const char *> words(argv, argv + argc);
    if (end < argc)
        words.erase(words.begin() + end);
    if (const auto reply = arguments.parse(int(words.size()), words.data())) {
        (reply->is_wrong ? std::cerr : std::cout) << reply->text;
        return reply->is_wrong ? kExitUsage : kExitDone;
    }
    place_words(options, source, end < argc ? size_t(argc - end - 1) : SIZE_MAX);
    if (options.flows.empty()) {
        std::cerr << "mapi-flow: flow is required\nRun with --help for more information.\n";
        return kExitUsage;
    }
    if (!options.is_device && options.waits) {
        std::cerr << "mapi-flow: --wait requires --interface\n";
        return kExitUsage;
    }
    if (options.is_device && !options.captures.empty()) {
        std::cerr << "mapi-flow: --read cannot be combined with --interface\n";
        return kExitUsage;
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
