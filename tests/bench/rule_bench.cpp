// SPDX-License-Identifier: MIT
// Snort's rules as flows BPF_FILTER, MATCH, PKT_COUNTER on one capture: CPU time of a packet.
#include <iostream>
#include <numeric>

#include "counted_flows.hpp"
#include "support/snort_rules.hpp"

namespace
{
constexpr int kRounds = 5;
constexpr double kMostNs = 250;

std::vector<bench::Rule> read_rules(const char *path)
{
    std::vector<bench::Rule> rules;
    for (const test_support::SnortRule &rule : test_support::read_snort_rules(path))
        rules.push_back({.filter = rule.filter, .options = rule.options});
    return rules;
}

uint64_t sum(const std::vector<uint64_t> &counts)
{
    return std::accumulate(counts.begin(), counts.end(), uint64_t{0});
}
} // namespace

int main(int argc, char **argv)
{
    if (argc != 3) {
        std::cerr << "usage: rule_bench CAPTURE RULES\n";
        return 2;
    }
    const std::string capture = argv[1];
    const std::vector<bench::Rule> rules = read_rules(argv[2]);
    if (rules.empty()) {
        std::cerr << "no rules in " << argv[2] << '\n';
        return 77;
    }
    std::vector<bench::Rule> headers = rules;
    for (bench::Rule &rule : headers)
        rule.options.clear();
    const bench::EmptyCapture empty(capture);
    std::vector<double> ns, header_ns, prepare_s;
    bench::Counted counted, passed_headers;
    for (int round = 0; round < kRounds; ++round) {
        const double prepare = bench::run(empty.path(), rules).seconds;
        counted = bench::run(capture, rules);
        passed_headers = bench::run(capture, headers);
        const double per_packet = 1e9 / double(counted.packets);
        prepare_s.push_back(prepare);
        ns.push_back((counted.seconds - prepare) * per_packet);
        header_ns.push_back(passed_headers.seconds * per_packet);
    }
    bench::print({"mapi_982_rules_ns",
                  bench::median(ns),
                  "ns/packet",
                  {{"packets", counted.packets},
                   {"rules", rules.size()},
                   {"matches", sum(counted.passed)},
                   {"passed_headers", sum(passed_headers.passed)},
                   {"ns", ns},
                   {"ns_headers_only", bench::median(header_ns)},
                   {"prepare_ms", bench::median(prepare_s) * 1e3}},
                  "CPU time of all threads from the first packet on: 982 flows with a header, the "
                  "contents of a rule of Snort 2.2.0 and a counter each"},
                 "at most", kMostNs);
    return 0;
}
