// SPDX-License-Identifier: MIT
// report: options and sums -> the first and last line of the log, the last lines, and notes on what
// is missing.
#include "report.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/command/counted.hpp"
#include "common/command/tell.hpp"

namespace impair
{
namespace
{
using nlohmann::ordered_json;

constexpr double kMillisecondNs = 1e6;

std::string line_of(const ordered_json &line)
{
    return line.dump(-1, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

double mean(uint64_t sum, uint64_t count)
{
    return count > 0 ? double(sum) / double(count) : 0;
}

ordered_json sums_json(const Sums &sums)
{
    ordered_json made = {{"packets", sums.packets}};
    for (size_t i = 0; i < kOutcomes; ++i)
        made[std::string(name_of(Outcome(i)))] = sums.outcomes[i];
    const uint64_t sent = sums.count(Outcome::kSent);
    made["duplicated"] = sums.duplicated;
    made["reordered"] = sums.reordered;
    made["missed"] = sums.missed;
    made["bytes"] = sums.bytes;
    made["mean_delay_ns"] = mean(sums.delay_ns, sent);
    made["mean_late_ns"] = mean(sums.late_ns, sent);
    made["most_late_ns"] = sums.most_late_ns;
    return made;
}

void add_sums(ordered_json &line, const Result &result)
{
    line["seconds"] = result.seconds;
    line["log_waits"] = result.log_waits;
    line["gone"] = result.gone;
    for (size_t i = 0; i < kDirections; ++i)
        line[name_of(Direction(i))] = sums_json(result.sums[i]);
}

std::string path_words(const Options &options, size_t direction)
{
    return fmt::format("{} {} -> {}", name_of(Direction(direction)), options.interfaces[direction],
                       options.interfaces[1 - direction]);
}

std::string text_line(const Options &options, const Sums &sums, size_t direction)
{
    std::string line = fmt::format("{}: {}", path_words(options, direction),
                                   command::counted(sums.packets, "packet"));
    for (size_t i = 0; i < kOutcomes; ++i)
        if (sums.outcomes[i] > 0 || Outcome(i) == Outcome::kSent || Outcome(i) == Outcome::kLost)
            line += fmt::format(", {} {}", sums.outcomes[i], name_of(Outcome(i)));
    line += fmt::format(", {} duplicated, {} reordered", sums.duplicated, sums.reordered);
    if (const uint64_t sent = sums.count(Outcome::kSent); sent > 0)
        line += fmt::format("; delay {:.4f} ms, late {:.4f} ms on average, {:.4f} ms at most",
                            mean(sums.delay_ns, sent) / kMillisecondNs,
                            mean(sums.late_ns, sent) / kMillisecondNs,
                            double(sums.most_late_ns) / kMillisecondNs);
    return line + "\n";
}

void tell_one(const Options &options, const Sums &sums, size_t direction)
{
    const auto tell = [&](uint64_t count, const char *what) {
        if (count > 0)
            command::tell("mapi-impair: {}: {} {}\n", path_words(options, direction),
                          command::counted(count, "packet"), what);
    };
    tell(sums.count(Outcome::kTooLong),
         "not forwarded: too long for the other interface, or merged by an offload (ethtool -K "
         "IFACE gro off, and tso off gso off where they are sent)");
    tell(sums.count(Outcome::kFull), "not forwarded: the queue was full (a higher --limit)");
    tell(sums.count(Outcome::kRefused), "not forwarded: the kernel refused them");
    tell(sums.count(Outcome::kUnsent), "still waited at the end");
    tell(sums.missed, "missed, and not in the log: the socket had no room (a lower rate)");
}
} // namespace

std::string first_line(const Options &options)
{
    const Impairment &impairment = options.impairment;
    return line_of({
        {"type", "begin"},
        {"schema", "netslice-impair-1"},
        {"first", options.interfaces[kForward]},
        {"second", options.interfaces[kBackward]},
        {"impaired_forward", options.is_impaired[kForward]},
        {"impaired_backward", options.is_impaired[kBackward]},
        {"seed", options.seed},
        {"delay_ns", impairment.delay_ns},
        {"jitter_ns", impairment.jitter_ns},
        {"loss", impairment.loss},
        {"duplicate", impairment.duplicate},
        {"reorder", impairment.reorder},
        {"reorder_ns", impairment.reorder_ns},
    });
}

std::string end_line(const Result &result)
{
    ordered_json line = {{"type", "end"}};
    add_sums(line, result);
    return line_of(line);
}

std::string last_lines(const Options &options, const Result &result)
{
    if (options.format == "json") {
        ordered_json line = {{"schema", "netslice-impair-1"}};
        add_sums(line, result);
        return line_of(line);
    }
    std::string lines;
    for (size_t i = 0; i < kDirections; ++i)
        lines += text_line(options, result.sums[i], i);
    return lines;
}

void tell_missing(const Options &options, const Result &result)
{
    for (size_t i = 0; i < kDirections; ++i)
        tell_one(options, result.sums[i], i);
    if (result.log_waits > 0)
        command::tell("mapi-impair: {}: packets waited {} for the log (a faster disk)\n",
                      options.log, command::counted(result.log_waits, "time"));
}
} // namespace impair
