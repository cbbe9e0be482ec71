// SPDX-License-Identifier: MIT
// options: command line -> struct.
#include "options.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include "common/command/arguments.hpp"
#include "common/command/numbers.hpp"

namespace impair
{
namespace
{
constexpr const char *kFooter =
    "Forwards what arrives at FIRST to SECOND (forward) and the reverse (backward), and impairs "
    "it. "
    "The interfaces should have no\n"
    "addresses. A time is a number and ns, us, ms or s.\n"
    "\n"
    "Examples:\n"
    "  mapi-impair --delay 5ms --jitter 1ms --loss 2 in out\n"
    "  mapi-impair --delay 0.05ms --direction forward --log packets.jsonl in out\n"
    "  mapi-impair --netem --delay 5ms in out\n"
    "\n"
    "Exit codes: 0 success; 1 an interface, a permission, netem or the log is missing, or went "
    "away; 2 invalid usage";

constexpr double kMostNs = 3600e9;
constexpr double kPercent = 100;
constexpr int kMostPriority = 99; // of SCHED_FIFO

struct Words {
    std::string delay, jitter, reorder_by, spin;
    std::string direction = "both";
    double loss = 0, duplicate = 0, reorder = 0; // percent
};

std::string check_time(const std::string &text)
{
    return read_time(text) ? ""
                           : "\"" + text +
                                 "\" is not a time (a number and ns, us, ms or s, such as 0.05ms; "
                                 "at most an hour)";
}

std::string check_percent(const std::string &text)
{
    char *end = nullptr;
    const double percent = std::strtod(text.c_str(), &end);
    return !text.empty() && *end == 0 && percent >= 0 && percent <= kPercent
               ? ""
               : "\"" + text + "\" is not a percentage from 0 to 100";
}

void add_impairments(command::Arguments &arguments, Words &words)
{
    arguments.add("--delay", words.delay, "delay of each packet (default: 0)")
        .kind("TIME")
        .check(check_time);
    arguments
        .add("--jitter", words.jitter,
             "the delay is random between delay - jitter and delay + jitter; it does not reorder")
        .kind("TIME")
        .check(check_time);
    arguments.add("--loss", words.loss, "packets to drop").kind("PERCENT").check(check_percent);
    arguments.add("--duplicate", words.duplicate, "packets to send twice")
        .kind("PERCENT")
        .check(check_percent);
    arguments
        .add("--direction", words.direction,
             "what is impaired: both, forward or backward; the rest is only forwarded")
        .one_of({"both", "forward", "backward"})
        .show_default();
}

// Options that only this program's own forwarding has.
std::vector<command::Argument> add_forwarding(command::Arguments &arguments, Options &options,
                                              Words &words)
{
    return {
        arguments
            .add("--reorder", words.reorder, "packets to hold back, so that others overtake them")
            .kind("PERCENT")
            .check(check_percent),
        arguments
            .add("--reorder-by", words.reorder_by, "how long they are held back (default: 1ms)")
            .kind("TIME")
            .check(check_time),
        arguments
            .add("--log", options.log,
                 "a line of JSON for each packet; the file appears, whole, at the end; - is "
                 "standard output")
            .kind("FILE")
            .check(command::is_given),
        arguments.add("--seed", options.seed, "of the random choices").kind("N").show_default(),
        arguments
            .add("--limit", options.limit,
                 "packets that may wait in each direction; more are dropped")
            .kind("PACKETS")
            .range(uint64_t(1), uint64_t(10'000'000))
            .show_default(),
        arguments
            .add("--spin", words.spin,
                 "wait busily that long before a packet is due, to be on time (default: 60us)")
            .kind("TIME")
            .check(check_time),
        arguments
            .add("--priority", options.priority,
                 "real-time priority of forwarding, so that other programs do not delay packets "
                 "(default: 0, none)")
            .kind("N")
            .range(0, kMostPriority),
    };
}

void set_time(const std::string &text, uint64_t &variable)
{
    if (!text.empty())
        variable = *read_time(text);
}

void take_words(const Words &words, Options &options)
{
    Impairment &impairment = options.impairment;
    set_time(words.delay, impairment.delay_ns);
    set_time(words.jitter, impairment.jitter_ns);
    set_time(words.reorder_by, impairment.reorder_ns);
    set_time(words.spin, options.spin_ns);
    impairment.loss = words.loss / kPercent;
    impairment.duplicate = words.duplicate / kPercent;
    impairment.reorder = words.reorder / kPercent;
    options.is_impaired[kForward] = words.direction != "backward";
    options.is_impaired[kBackward] = words.direction != "forward";
    if (impairment.jitter_ns > impairment.delay_ns)
        throw command::WrongUse("--jitter is larger than --delay: a delay cannot be negative");
    if (options.interfaces[kForward].empty() || options.interfaces[kBackward].empty())
        throw command::WrongUse("two interfaces are required, such as mapi-impair in out");
    if (options.interfaces[kForward] == options.interfaces[kBackward])
        throw command::WrongUse("the interfaces must be two different ones");
}
} // namespace

std::optional<uint64_t> read_time(const std::string &text)
{
    // strtod() would also accept blanks, signs, "inf" and hexadecimal numbers
    const size_t digits = std::min(text.find_first_not_of("0123456789."), text.size());
    if (digits == 0)
        return std::nullopt;
    const std::string amount = text.substr(0, digits), unit = text.substr(digits);
    char *end = nullptr;
    const double number = std::strtod(amount.c_str(), &end);
    if (*end)
        return std::nullopt;
    constexpr std::pair<std::string_view, double> kUnits[] = {
        {"ns", 1}, {"us", 1e3}, {"ms", 1e6}, {"s", 1e9}};
    for (const auto &[name, ns] : kUnits)
        if (unit == name && number * ns <= kMostNs)
            return uint64_t(std::llround(number * ns));
    return unit.empty() && number == 0 ? std::optional<uint64_t>(0) : std::nullopt;
}

std::optional<int> parse_options(int argc, const char *const *argv, Options &options)
{
    Words words;
    command::Arguments arguments(
        "Forward packets between two interfaces with delay, jitter, loss, duplication and "
        "reordering, and log what was done to each.",
        "mapi-impair");
    arguments.footer(kFooter);
    arguments.version("mapi-impair " NETSLICE_VERSION);
    arguments.add("first", options.interfaces[kForward], "network interface")
        .check(command::is_given);
    arguments.add("second", options.interfaces[kBackward], "network interface")
        .check(command::is_given);
    add_impairments(arguments, words);
    const auto of_forwarding = add_forwarding(arguments, options, words);
    arguments.add("-d,--duration", options.seconds, "end after this time (default: at Ctrl-C)")
        .kind("SECONDS")
        .check(command::check_duration);
    arguments.add_flag("--netem", options.is_netem,
                       "let the kernel do it, by tc and a bridge, without a log");
    arguments.add_format(options.format, {"text", "json"}, "format of the last lines");
    arguments.add_flag("-q,--quiet", options.is_quiet, "no notes; only errors and what is missing");
    arguments.at_end([&] {
        if (options.is_netem)
            command::refuse(of_forwarding, "cannot be combined with --netem");
        take_words(words, options);
    });
    if (const auto reply = arguments.parse(argc, argv)) {
        reply->print();
        return reply->is_wrong ? kExitUsage : kExitDone;
    }
    return std::nullopt;
}
} // namespace impair
