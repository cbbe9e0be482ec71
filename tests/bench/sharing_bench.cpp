// SPDX-License-Identifier: MIT
// Many flows on one capture: 500 filters on 500 ports compared with one of them; 1,000 strings in
// 1,000 flows compared with plain Vectorscan; 500 rules with a header and a string.
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include "bare_strings.hpp"
#include "counted_flows.hpp"
#include "figure.hpp"

namespace
{
using bench::Counted;
using bench::EmptyCapture;
using bench::fail;
using bench::Rule;
using bench::run;

constexpr int kRounds = 7;
constexpr size_t kPorts = 500;
constexpr size_t kRules = 500;

double median(std::vector<double> values)
{
    return bench::quantile(std::move(values), 0.5);
}

// Ports that do not occur in the capture.
std::vector<Rule> silent_ports(const std::string &capture)
{
    std::vector<Rule> all, silent;
    for (int port = 20000; port < 23000; ++port)
        all.push_back({.filter = "port " + std::to_string(port)});
    const Counted counted = run(capture, all);
    for (size_t i = 0; i < all.size() && silent.size() < kPorts; ++i) {
        if (counted.passed[i] == 0)
            silent.push_back(all[i]);
    }
    if (silent.size() < kPorts)
        fail("too few ports without packets");
    return silent;
}

int measure_ports(const std::string &capture)
{
    const std::vector<Rule> ports = silent_ports(capture);
    std::vector<double> ratios, many_s, one_s;
    uint64_t packets = 0;
    for (int round = 0; round < kRounds; ++round) {
        const Counted many = run(capture, ports);
        const Counted one = run(capture, {ports[size_t(round)]});
        packets = many.packets;
        many_s.push_back(many.seconds);
        one_s.push_back(one.seconds);
        ratios.push_back(one.seconds / many.seconds);
    }
    const double ns = 1e9 / double(packets);
    bench::print(
        {"mapi_500_ports_over_1_ratio",
         median(ratios),
         "ratio of packets/s",
         {{"packets", packets},
          {"ns_500", median(many_s) * ns},
          {"ns_1", median(one_s) * ns},
          {"ratios", ratios}},
         "500 flows \"port N\" with ports that do not occur, with a counter each, / one of them"},
        "at least", 0.8);
    return 0;
}

std::string unhex(const std::string &hex)
{
    std::string text;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
        text.push_back(char(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return text;
}

// CPU seconds of each round.
struct StringSeconds {
    std::vector<double> scan, read, read_and_scan, read_and_scan_copies, read_and_find, device,
        flows, prepare;
};

std::vector<std::string> string_rows(const StringSeconds &seconds, double ns, double compile_s)
{
    std::vector<std::string> rows;
    const auto add = [&](const char *what, double value, const char *unit = "ns/packet") {
        char row[160];
        std::snprintf(row, sizeof(row), "%-84s %8.1f %s", what, value, unit);
        rows.emplace_back(row);
    };
    const double read = median(seconds.read) * ns, scan = median(seconds.read_and_scan) * ns,
                 copies = median(seconds.read_and_scan_copies) * ns;
    const double find = median(seconds.read_and_find) * ns, device = median(seconds.device) * ns,
                 flows = median(seconds.flows) * ns;
    add("hs_scan() of packets in memory", median(seconds.scan) * ns);
    add("read() in pieces of 128 KiB, and hs_scan()", scan);
    add("  of these read() and visiting the records", read);
    add("1,000 flows STR_SEARCH, PKT_COUNTER", flows);
    add("  read() and hs_scan(), as above", scan);
    add("  + copies with 32 bytes of padding after each packet", copies - scan);
    add("  + hits in a mask for each flow, another database", find - copies);
    add("  + driver, batches, a burst's publication (one flow PKT_COUNTER without read())",
        device - read);
    add("  + distribution to 1,000 flows and their results: the remainder",
        flows - find - (device - read));
    add("before the first packet, not included above: the node group of 1,000 flows",
        median(seconds.prepare) * 1e3, "ms");
    add("  of this, Vectorscan's database", compile_s * 1e3, "ms");
    return rows;
}

StringSeconds measure_rounds(const std::string &capture, const std::vector<Rule> &patterns,
                             bench::BareStrings &bare, uint64_t &packets)
{
    const EmptyCapture empty(capture);
    StringSeconds seconds;
    for (int round = 0; round < kRounds; ++round) {
        const double prepare = run(empty.path(), patterns).seconds;
        const Counted flows = run(capture, patterns);
        const auto check = [&](double taken) { // right after it
            if (flows.passed != bare.hits())
                fail("the counts of flows and of plain Vectorscan differ");
            return taken;
        };
        seconds.read_and_scan.push_back(check(bare.read_and_scan()));
        seconds.flows.push_back(flows.seconds - prepare);
        seconds.prepare.push_back(prepare);
        seconds.device.push_back(run(capture, {{}}).seconds);
        seconds.scan.push_back(check(bare.scan()));
        seconds.read.push_back(bare.read());
        seconds.read_and_scan_copies.push_back(
            bare.read_and_scan_copies()); // unchecked: it also counts matches that end in the
                                          // padding
        seconds.read_and_find.push_back(check(bare.read_and_find()));
        packets = flows.packets;
    }
    return seconds;
}

int measure_strings(const std::string &capture)
{
    std::vector<Rule> rules;
    std::vector<std::string> strings, patterns;
    for (std::string hex; std::getline(std::cin, hex);) {
        patterns.push_back("|" + hex + "|");
        rules.push_back({.pattern = patterns.back()});
        strings.push_back(unhex(hex));
    }
    bench::BareStrings bare(capture, strings, patterns);
    uint64_t packets = 0, hits = 0;
    const StringSeconds seconds = measure_rounds(capture, rules, bare, packets);
    for (const uint64_t count : bare.hits())
        hits += count;
    std::vector<double> ratios;
    for (size_t i = 0; i < seconds.flows.size(); ++i)
        ratios.push_back(seconds.read_and_scan[i] / seconds.flows[i]);
    const double ns = 1e9 / double(packets);
    bench::print({"mapi_1000_strings_over_bare_ratio",
                  median(ratios),
                  "ratio of packets/s",
                  {{"packets", packets},
                   {"hits", hits},
                   {"strings", strings.size()},
                   {"ns_mapi", median(seconds.flows) * ns},
                   {"ns_bare", median(seconds.read_and_scan) * ns},
                   {"ratios", ratios}},
                  "1,000 flows STR_SEARCH with a counter each / hs_scan() with one database of the "
                  "same strings; both read the capture by read() in pieces; CPU time "
                  "of all threads from the first packet on",
                  string_rows(seconds, ns, bare.compile_s())},
                 "at least", 0.85);
    return 0;
}

// Headers as in Snort's rules: a protocol and a port on one side.  Most rules share a few headers;
// a fifth share the first one.
std::vector<std::string> headers()
{
    std::vector<std::string> headers;
    for (const char *side : {"tcp dst port ", "tcp src port ", "udp dst port ", "udp src port "}) {
        for (const int port :
             {80,  443, 25,  53,  110, 143,  21,   22,   23,   69,   123,  135, 137,
              139, 161, 389, 445, 514, 1433, 1521, 3306, 3389, 5060, 8080, 8443})
            headers.push_back(side + std::to_string(port));
    }
    return headers;
}

int measure_rules(const std::string &capture)
{
    const std::vector<std::string> filters = headers();
    std::vector<Rule> rules;
    for (std::string hex; rules.size() < kRules && std::getline(std::cin, hex);) {
        const double share = double(rules.size()) / double(kRules);
        rules.push_back({.filter = filters[size_t(share * share * share * double(filters.size()))],
                         .pattern = "|" + hex + "|"});
    }
    std::vector<double> seconds;
    uint64_t packets = 0, hits = 0;
    for (int round = 0; round < kRounds; ++round) {
        const Counted counted = run(capture, rules);
        packets = counted.packets;
        hits = 0;
        for (const uint64_t count : counted.passed)
            hits += count;
        seconds.push_back(counted.seconds);
    }
    bench::print({"mapi_500_rules_packets_per_us",
                  double(packets) / median(seconds) / 1e6,
                  "packets/us",
                  {{"packets", packets},
                   {"hits", hits},
                   {"rules", rules.size()},
                   {"headers", filters.size()},
                   {"seconds", seconds}},
                  "500 flows of BPF_FILTER with one of 100 headers, STR_SEARCH with a string each, "
                  "and a counter"});
    return 0;
}
} // namespace

int main(int argc, char **argv)
{
    const std::string figure = argc == 3 ? argv[1] : "";
    if (figure == "ports")
        return measure_ports(argv[2]);
    if (figure == "strings")
        return measure_strings(argv[2]);
    if (figure == "rules")
        return measure_rules(argv[2]);
    std::cerr << "usage: sharing_bench ports|strings|rules CAPTURE\n";
    return 2;
}
