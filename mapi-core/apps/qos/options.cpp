// SPDX-License-Identifier: MIT
// options: command line -> structs, with the checks that need no file.
#include "qos/options.hpp"

#include <cmath>

#include <fmt/format.h>

#include "captures/source_arguments.hpp"
#include "common/command/arguments.hpp"
#include "common/command/numbers.hpp"

namespace qos
{
namespace
{
constexpr const char *kFooter =
    "Examples:\n"
    "  mapi-qos collect -r a_side.pcap --point a --store qos.db\n"
    "  mapi-qos collect -r b_side.pcap --point b --store qos.db\n"
    "  mapi-qos report --store qos.db --from a --to b --interval 1\n"
    "  mapi-qos collect -i eth0 --point paris --rate 5% --store postgresql://db.example/qos udp\n"
    "\n"
    "Exit codes: 0 success; 1 packets were lost or not stored, or the capture is damaged; 2 "
    "invalid "
    "usage; 3 the source or the store\n"
    "was refused, or the output cannot be written; 130 interrupted while reading a capture";
constexpr double kHashes = 4294967296.0;

// It becomes a text of the database and a label of metrics.
std::string check_point(const std::string &text)
{
    constexpr size_t kMostBytes = 100;
    if (text.empty() || text.size() > kMostBytes)
        return "a name has 1 to 100 bytes";
    return command::printable(text) == text
               ? ""
               : command::quoted(text) + " has characters that are not printable ASCII";
}

std::string check_patience(const std::string &text)
{
    const auto seconds = command::number_of<double>(text);
    return seconds && *seconds >= 0 && *seconds <= command::kMostSeconds
               ? ""
               : fmt::format("{} is not a number of seconds (0 to {:g})", command::quoted(text),
                             command::kMostSeconds);
}

std::string check_rate(const std::string &text)
{
    return hashes_below(text) ? ""
                              : command::quoted(text) +
                                    " is not a part of the packets (such as 5% or 0.05, at most "
                                    "100%)";
}

void add_store(command::ArgumentSet &arguments, std::string &store)
{
    arguments.add("--store", store, "SQLite file or postgresql://... that holds the packets")
        .kind("STORE")
        .required()
        .check(command::is_given);
}

void add_collect(command::ArgumentSet arguments, CollectOptions &options, std::string &rate)
{
    arguments.add("filter", options.filter, "only packets that match (pcap-filter)")
        .check(command::is_given);
    arguments.add("--point", options.point, "name of this observation point")
        .kind("NAME")
        .required()
        .check(check_point);
    add_store(arguments, options.store);
    captures_source::add_source(arguments, options.source);
    arguments.add("--rate", rate, "part of the packets to select (default: 100%)")
        .kind("PART")
        .check(check_rate);
    arguments.add("--key", options.key, "key of the hashes, the same at all points (default: 0)");
    arguments
        .add("--payload", options.payload_bytes,
             "bytes of the payload that the hashes cover, the same at all points (default: 64)")
        .kind("BYTES")
        .range(uint64_t{0}, uint64_t{256});
    const command::Argument duration = captures_source::add_duration(arguments, options.seconds);
    arguments
        .add("--buffer", options.buffer,
             "packets that are kept while the store is away (default: 262144)")
        .kind("PACKETS")
        .range(uint64_t{1}, uint64_t{1} << 30);
    arguments
        .add("--patience", options.patience_s,
             "how long to wait at the end for a store that is away (default: 30)")
        .kind("SECONDS")
        .check(check_patience);
    arguments.add_flag("-q,--quiet", options.is_quiet, "no notes; only errors and what is missing");
    arguments.at_end([&options, &rate, duration] {
        if (const char *const wrong =
                captures_source::find_wrong(options.source, duration.was_given()))
            throw command::WrongUse(wrong);
        options.below = *hashes_below(rate);
    });
}

void add_report(command::ArgumentSet arguments, ReportOptions &options, std::string &rate,
                bool &is_chosen)
{
    add_store(arguments, options.store);
    arguments.add("--from", options.from, "first point")
        .kind("POINT")
        .required()
        .check(command::is_given);
    arguments.add("--to", options.to, "second point")
        .kind("POINT")
        .required()
        .check(command::is_given);
    const command::Argument lower =
        arguments
            .add("--rate", rate,
                 "use only this part of all packets (default: as many as both points selected)")
            .kind("PART")
            .check(check_rate);
    arguments.add("--interval", options.interval_s, "also report each interval of this length")
        .kind("SECONDS")
        .check(command::check_duration);
    arguments.add("--last", options.last_s, "only the last seconds of each point (default: all)")
        .kind("SECONDS")
        .check(command::check_duration);
    arguments
        .add("--window", options.window_s,
             "the longest time between copies of a packet (default: 10)")
        .kind("SECONDS")
        .check(command::check_duration);
    arguments.add("--flows", options.flows, "report at most so many flows (default: all)")
        .kind("COUNT");
    arguments.add_flag("--one-way", options.is_one_way,
                       "all packets pass the first point before the second");
    arguments.add_flag("--all-time", options.is_all_time,
                       "count packets as lost also at times that the other point does not cover");
    arguments.add_flag("--synchronised", options.is_synchronised,
                       "the points' clocks are synchronised, whatever the packets show");
    arguments.add_flag("--unsynchronised", options.is_unsynchronised,
                       "the points' clocks are not synchronised: estimate offset and drift");
    arguments.add_format(options.format, {"text", "json", "csv", "prometheus"});
    arguments.add("-o,--output", options.output, "file to print to; -: standard output (default)")
        .kind("FILE")
        .check(command::is_given);
    arguments.add_flag("-q,--quiet", options.is_quiet, "no notes; only errors and what is missing");
    arguments.at_end([&options, &rate, &is_chosen, lower] {
        is_chosen = true;
        if (options.is_synchronised && options.is_unsynchronised)
            throw command::WrongUse("--synchronised cannot be combined with --unsynchronised");
        if (options.from == options.to)
            throw command::WrongUse("--from and --to are the same point");
        if (lower.was_given())
            options.below = *hashes_below(rate);
    });
}
} // namespace

std::string shown_store(const std::string &store)
{
    const size_t scheme = store.find("://"), at = store.find('@');
    if (scheme == store.npos || at == store.npos)
        return command::printable(store);
    const size_t colon = store.find(':', scheme + 3);
    return command::printable(colon < at ? store.substr(0, colon) + ":***" + store.substr(at)
                                         : store);
}

std::optional<int64_t> hashes_below(const std::string &rate)
{
    const bool is_percent = rate.ends_with('%');
    const auto number =
        command::number_of<double>(is_percent ? rate.substr(0, rate.size() - 1) : rate);
    const double part = number.value_or(0) / (is_percent ? 100 : 1);
    if (!(part > 0) || part > 1)
        return std::nullopt;
    const auto below = int64_t(std::llround(part * kHashes));
    return below > 0 ? std::optional(below) : std::nullopt;
}

std::optional<int> parse_options(int argc, char **argv, Options &options)
{
    std::string rate = "100%", lower_rate = "100%";
    command::Arguments arguments(
        "Measure delay, jitter and loss of the packets that pass two or more points of a network.",
        "mapi-qos");
    arguments.footer(kFooter);
    arguments.version("mapi-qos " NETSLICE_VERSION);
    add_collect(arguments.add_command("collect", "select packets at a point and store them"),
                options.collect, rate);
    add_report(arguments.add_command("report", "compare the packets of two points"), options.report,
               lower_rate, options.is_report);
    arguments.require_command();
    if (const auto reply = arguments.parse(argc, argv)) {
        reply->print();
        return reply->is_wrong ? kExitUsage : kExitDone;
    }
    options.collect.source.program = options.collect.is_quiet ? nullptr : "mapi-qos";
    return std::nullopt;
}
} // namespace qos
