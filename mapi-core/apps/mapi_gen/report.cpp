// SPDX-License-Identifier: MIT
// report: counts and times -> the line of each second, the last line, and notes on what is missing.
#include "report.hpp"

#include <cstring>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "common/command/counted.hpp"
#include "common/command/tell.hpp"

namespace mapi_gen
{
namespace
{
constexpr double kBitsOfMegabit = 1e6;

double per_second(double count, double seconds)
{
    return seconds > 0 ? count / seconds : 0;
}

std::string json_line(const Outcome &outcome, const Options &options, const Packets &packets)
{
    const Counts &counts = outcome.counts;
    const nlohmann::ordered_json line = {
        {"schema", "netslice-mapi-gen-1"},
        {"method", outcome.method},
        {"interface", options.interface},
        {"threads", options.threads()},
        {"packets", counts.packets},
        {"bytes", counts.bytes},
        {"refused", counts.refused},
        {"seconds", outcome.seconds},
        {"packets_per_s", per_second(double(counts.packets), outcome.seconds)},
        {"bits_per_s", per_second(8 * double(counts.bytes), outcome.seconds)},
        {"behind", counts.behind},
        {"dropped", outcome.dropped},
        {"too_long", packets.too_long},
        {"too_short", packets.too_short},
        {"cut", packets.cut},
    };
    return line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}
} // namespace

std::string second_line(const Counts &before, const Counts &now, double passed_s, double at_s)
{
    const double packets = per_second(double(now.packets - before.packets), passed_s);
    const double bits = per_second(8 * double(now.bytes - before.bytes), passed_s);
    std::string line = fmt::format("{:.1f} s: {:.0f} packets/s, {:.3f} Mbit/s, sent {}, refused {}",
                                   at_s, packets, bits / kBitsOfMegabit, now.packets, now.refused);
    if (now.behind > before.behind)
        line += fmt::format(", behind {}", now.behind);
    return line;
}

std::string last_line(const Outcome &outcome, const Options &options, const Packets &packets)
{
    if (options.format == "json")
        return json_line(outcome, options, packets);
    const Counts &counts = outcome.counts;
    return fmt::format("{}, {}, {} refused, {:.6f} s, {:.0f} packets/s, {:.3f} Mbit/s\n",
                       command::counted(counts.packets, "packet"),
                       command::counted(counts.bytes, "byte"), counts.refused, outcome.seconds,
                       per_second(double(counts.packets), outcome.seconds),
                       per_second(8 * double(counts.bytes), outcome.seconds) / kBitsOfMegabit);
}

void tell_capture(const Packets &packets, const Options &options, unsigned mtu)
{
    if (packets.too_long > 0)
        command::tell("mapi-gen: {}: not sent: {} longer than the interface's MTU of {}\n",
                      options.capture, command::counted(packets.too_long, "packet"), mtu);
    if (packets.too_short > 0)
        command::tell("mapi-gen: {}: not sent: {} without an Ethernet header\n", options.capture,
                      command::counted(packets.too_short, "packet"));
    if (packets.cut > 0)
        command::tell("mapi-gen: {}: {} sent only as far as captured\n", options.capture,
                      command::counted(packets.cut, "packet is", "packets are"));
}

void tell_missing(const Outcome &outcome, const Options &options)
{
    const Counts &counts = outcome.counts;
    if (counts.refused > 0)
        command::tell("mapi-gen: {}: the {} refused {} times{}{}\n", options.interface,
                      outcome.method == "xdp" ? "driver" : "kernel", counts.refused,
                      counts.error ? ", the last time: " : "",
                      counts.error ? std::strerror(counts.error) : "");
    if (counts.behind > 0)
        command::tell("mapi-gen: behind the rate: {} of the schedule given up, as more than 100 ms "
                      "late (a lower rate, more --cpus)\n",
                      command::counted(counts.behind, "packet"));
    // veth counts what its driver refused there, too
    if (outcome.dropped > counts.refused)
        command::tell("mapi-gen: {}: the interface dropped {} meanwhile, of all programs "
                      "(tx_dropped)\n",
                      options.interface, command::counted(outcome.dropped, "packet"));
}
} // namespace mapi_gen
