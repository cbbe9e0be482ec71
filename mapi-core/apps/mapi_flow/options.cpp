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
    "A flow is a list of functions with their arguments, separated by bars. Quote words that "
    "contain blanks or bars with ' or \";\n"
    "@2 is the flow's second function. mapi(3) describes all functions.\n"
    "Prints a line for each function, separated by tabs: flow.function, name, packets received, "
    "passed and dropped, result;\n"
    "and a line for each packet of TO_BUFFER and each result of functions that return results one "
    "at a time.\n"
    "\n"
    "examples:\n"
    "  mapi-flow trace.pcap 'BPF_FILTER \"tcp port 80\" | STR_SEARCH \"GET /\" 0 0 | PKT_COUNTER'\n"
    "  mapi-flow trace.pcap \"ANONYMIZE 'IP,SRC_IP,PREFIX_PRESERVING' | TO_FILE 0 anonymous.pcap "
    "0\"\n"
    "  mapi-flow day/*.pcap -- 'EXPIRED_FLOWS 60 0 0'\n"
    "  mapi-flow -i eth0 'TO_FILE 5 found.pcapng 0 size=100M,files=10'\n"
    "  mapi-flow -i eth0 -t 1 'BPF_FILTER udp | PERF_START | TOP 5 1 9 | PERF_STOP'\n"
    "  mapi-flow -i eth0 -d 10 'PKTINFO 1 | STATS @1 0 | DIST @1 0 1500 100'\n"
    "\n"
    "exit status: 0 success; 1 the capture is damaged, or packets or results were lost; 2 invalid "
    "usage; 3 the source or a function\n"
    "was refused, or the output cannot be written; 130 interrupted while reading a capture or "
    "waiting for an interface";

// Returns an empty string if the text is valid.
std::string check_seconds(const std::string &text)
{
    char *end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == 0 && seconds > 0 && std::isfinite(seconds)
               ? ""
               : "\"" + text + "\" is not a positive number of seconds";
}

// Assigns the positional arguments.  behind: how many of them follow "--", which ends a list of
// captures.
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
        options.captures.insert(options.captures.end(), words.begin(),
                                words.begin() + ptrdiff_t(captures));
    options.flows.assign(words.begin() + ptrdiff_t(options.is_device ? 1 : captures), words.end());
}
// What options ask for together and cannot have; null: nothing.
const char *find_wrong(const Options &options, bool is_erf, bool has_duration)
{
    if (options.flows.empty())
        return "flow is required";
    if (!options.is_device && options.waits)
        return "--wait requires --interface";
    if (!options.is_device && has_duration)
        return "--duration requires --interface";
    if (options.is_device && !options.captures.empty())
        return "--read cannot be combined with --interface";
    if (options.is_device && is_erf)
        return "--erf cannot be combined with --interface";
    return nullptr;
}
} // namespace

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    command::Arguments arguments("mapi-flow: applies MAPI functions to captures or a network "
                                 "interface and prints their results.");
    arguments.footer(kFooter);
    arguments.version("-V,--version", std::string("mapi-flow ") + NETSLICE_VERSION);
    std::string source;
    arguments
        .add("source", source,
             "capture (pcap or pcapng, may be compressed), folder of captures, or - for standard "
             "input; with -i, an interface or a device of "
             "mapi.conf")
        .required();
    arguments.add("flow", options.flows, "functions of a flow");
    arguments
        .add("-r,--read", options.captures,
             "capture or folder; may be repeated; all other arguments are then flows")
        .one_each_time();
    arguments.add_flag("-i,--interface", options.is_device,
                       "the source is a network interface or a device of mapi.conf");
    const command::Argument erf =
        arguments.add_flag("-E,--erf", options.is_erf, "the capture is an ERF file of a DAG card");
    command::Argument duration = arguments.add(
        "-d,--duration", options.seconds, "how long to read an interface; default: until Ctrl-C");
    command::Argument interval = arguments.add("-t,--interval", options.interval_s,
                                               "seconds between results; default: only at the end");
    arguments.add(
        "-b,--buffer", options.buffer_bytes,
        "size of TO_BUFFER, and of result rings; default: 4 MiB, and what the functions need");
    arguments.add("-s,--snaplen", options.snap_bytes,
                  "bytes of each packet that TO_BUFFER and TO_FILE keep; default: all");
    arguments.add_flag("-w,--wait", options.waits, "wait for an interface that does not exist yet");
    arguments.add_flag("-j,--json", options.is_json, "print JSON, one object per line");
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
    if (const char *const wrong = find_wrong(options, erf.was_given(), duration.was_given())) {
        std::cerr << "mapi-flow: " << wrong << "\nRun with --help for more information.\n";
        return kExitUsage;
    }
    return std::nullopt;
}
} // namespace mapi_flow
