// SPDX-License-Identifier: MIT
// options: command line -> struct.
#include "options.hpp"

#include <cmath>

#include "common/command/arguments.hpp"
#include "common/command/numbers.hpp"
#include "quantities.hpp"

namespace mapi_gen
{
namespace
{
constexpr const char *kFooter =
    "Sends only on the interface that is named. Each second a line on standard error has the "
    "rate, and the packets sent and refused;\n"
    "a line on standard output has the sums. Without --count and --duration it ends with Ctrl-C.\n"
    "\n"
    "Examples:\n"
    "  mapi-gen --rate 100k --duration 10 eth1\n"
    "  mapi-gen --size 1518 --bit-rate 1G --cpus 2,3 eth1\n"
    "  mapi-gen --capture trace.pcap --count 1M --json eth1\n"
    "\n"
    "Exit codes: 0 success; 1 the interface, a permission or the capture is missing or refused; 2 "
    "invalid usage";

// Words that become numbers once all arguments are read.
struct Words {
    std::string rate, bit_rate, count, cpus, to, from_address, to_address;
    std::string method = "auto", payload = "zero";
    uint32_t size = kLeastWireBytes;
};

std::string wrong(const std::string &text, const char *what)
{
    return "\"" + text + "\" is not " + what;
}

std::string check_rate(const std::string &text)
{
    return read_rate(text)
               ? ""
               : wrong(text, "a rate (a number above 0, perhaps with k, M or G, such as 1.5M)");
}

std::string check_count(const std::string &text)
{
    const auto count = read_rate(text);
    return count && *count >= 1 && std::floor(*count) == *count
               ? ""
               : wrong(text, "a number of packets (at least 1, perhaps with k, M or G)");
}

std::string check_seconds(const std::string &text)
{
    return command::check_seconds(text, kMostSeconds);
}

std::string check_cpus(const std::string &text)
{
    return read_cpus(text) ? "" : wrong(text, "a list of CPUs, each once, such as 0,2-3");
}

std::string check_mac(const std::string &text)
{
    return read_mac(text) ? "" : wrong(text, "a MAC address, such as 02:00:00:00:00:01");
}

std::string check_address(const std::string &text)
{
    return read_ipv4(text) ? "" : wrong(text, "an IPv4 address");
}

// Options about generated packets; for --capture these are refused.
std::vector<command::Argument> add_frame(command::Arguments &arguments, Options &options,
                                         Words &words)
{
    return {
        arguments
            .add("--size", words.size,
                 "size of frames on the wire, with the checksum of 4 bytes that the card adds")
            .kind("BYTES")
            .range(int(kLeastWireBytes), int(kMostWireBytes))
            .show_default(),
        arguments.add("--payload", words.payload, "bytes after the UDP header: zero, random, text")
            .one_of({"zero", "random", "text"})
            .show_default(),
        arguments
            .add("--source-ports", options.frame.source_ports,
                 "number of UDP source ports, in turn from 1024 on")
            .kind("N")
            .range(1, kMostSourcePorts)
            .show_default(),
        arguments
            .add("--to", words.to,
                 "destination MAC address (default: 02:4e:53:00:00:01, which nobody has)")
            .kind("MAC")
            .check(check_mac),
        arguments.add("--from-address", words.from_address, "source (default: 198.18.0.1)")
            .kind("IPV4")
            .check(check_address),
        arguments.add("--to-address", words.to_address, "destination (default: 198.19.0.1)")
            .kind("IPV4")
            .check(check_address),
    };
}

void add_rates_and_ends(command::Arguments &arguments, Options &options, Words &words)
{
    arguments
        .add("--rate", words.rate,
             "packets per second, of all threads (default: as fast as possible)")
        .kind("N[k|M|G]")
        .check(check_rate);
    arguments
        .add("--bit-rate", words.bit_rate,
             "bits per second of frames with their checksums, instead of --rate")
        .kind("N[k|M|G]")
        .check(check_rate);
    arguments.add("-c,--count", words.count, "end after that many sent packets, of all threads")
        .kind("COUNT")
        .check(check_count);
    arguments.add("-d,--duration", options.seconds, "end after this time (default: at Ctrl-C)")
        .kind("SECONDS")
        .check(check_seconds);
    arguments
        .add("--cpus", words.cpus,
             "a sending thread on each, such as 0,2-3 (default: one thread on any CPU)")
        .kind("LIST")
        .check(check_cpus);
    arguments
        .add("--method", words.method,
             "auto, xdp or af_packet; auto is xdp if the kernel and the interface can")
        .one_of({"auto", "xdp", "af_packet"})
        .show_default();
}

void take_words(const Words &words, Options &options)
{
    options.frame.wire_bytes = words.size;
    options.frame.payload = words.payload == "random" ? Payload::kRandom
                            : words.payload == "text" ? Payload::kText
                                                      : Payload::kZero;
    if (!words.to.empty())
        options.frame.to_mac = *read_mac(words.to);
    if (!words.from_address.empty())
        options.frame.from_address = *read_ipv4(words.from_address);
    if (!words.to_address.empty())
        options.frame.to_address = *read_ipv4(words.to_address);
    if (!words.rate.empty())
        options.rate.packets_per_s = *read_rate(words.rate);
    if (!words.bit_rate.empty())
        options.rate.bits_per_s = *read_rate(words.bit_rate);
    if (!words.count.empty())
        options.packets = uint64_t(*read_rate(words.count));
    if (!words.cpus.empty())
        options.cpus = *read_cpus(words.cpus);
    options.method = words.method == "xdp"         ? Method::kXdp
                     : words.method == "af_packet" ? Method::kPacketSocket
                                                   : Method::kAuto;
}
} // namespace

std::optional<int> parse_options(int argc, const char *const *argv, Options &options)
{
    Words words;
    command::Arguments arguments(
        "Send UDP packets, or those of a capture, on an interface at a chosen rate.", "mapi-gen");
    arguments.footer(kFooter);
    arguments.version("mapi-gen " NETSLICE_VERSION);
    arguments.add("interface", options.interface, "network interface to send on")
        .check(command::is_given);
    const auto of_frames = add_frame(arguments, options, words);
    arguments
        .add("--capture", options.capture,
             "send the packets of this capture (pcap or pcapng), again and again")
        .kind("FILE")
        .check(command::is_given);
    add_rates_and_ends(arguments, options, words);
    arguments.add_format(options.format, {"text", "json"}, "format of the last line");
    arguments.add_flag("-q,--quiet", options.is_quiet, "no line each second, and no notes");
    arguments.at_end([&] {
        if (options.interface.empty())
            throw command::WrongUse("an interface is required, such as mapi-gen eth1");
        if (!words.rate.empty() && !words.bit_rate.empty())
            throw command::WrongUse("--rate cannot be combined with --bit-rate");
        if (!options.capture.empty())
            command::refuse(of_frames, "cannot be combined with --capture");
        take_words(words, options);
    });
    if (const auto reply = arguments.parse(argc, argv)) {
        reply->print();
        return reply->is_wrong ? kExitUsage : kExitDone;
    }
    return std::nullopt;
}
} // namespace mapi_gen
