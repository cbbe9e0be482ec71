// SPDX-License-Identifier: MIT
// Many flows on one capture: 500 filters on 500 ports against one of them; 1,000 strings in 1,000 flows against Vectorscan alone; 500
// rules of a header and a string.
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <hs/hs.h>
#include <mapi/mapi.h>

#include "figure.hpp"

namespace
{
// CPU time: others on the machine change it least.  The packet thread alone has work to do.
double now_s()
{
    timespec now = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

constexpr int kRounds = 7;
constexpr size_t kPorts = 500;
constexpr size_t kRules = 500;
constexpr size_t kFileHeaderBytes = 24;
constexpr size_t kRecordHeaderBytes = 16;

[[noreturn]] void fail(const std::string &what)
{
    char why[MAPI_ERROR_TEXT_BYTES] = "";
    mapi_read_error(nullptr, why);
    std::cerr << what << ": " << why << '\n';
    std::exit(1);
}

struct Counted {
    double seconds = 0;
    uint64_t packets = 0; // of the capture
    std::vector<uint64_t> passed; // of each flow
};

struct Rule {
    std::string filter = {}; // empty: none
    std::string pattern = {};
};

// A flow for each rule, with a counter behind.
Counted run(const std::string &capture, const std::vector<Rule> &rules)
{
    char *device = mapi_create_offline_device(capture.c_str(), MFF_PCAP);
    if (!device)
        fail(capture);
    std::vector<std::pair<int, int>> flows;
    for (const Rule &rule : rules) {
        const int flow = mapi_create_flow(device);
        if (!rule.filter.empty() && mapi_apply_function(flow, "BPF_FILTER", rule.filter.c_str()) < 0)
            fail(rule.filter);
        if (!rule.pattern.empty() && mapi_apply_function(flow, "STR_SEARCH", rule.pattern.c_str(), 0, 0) < 0)
            fail(rule.pattern);
        const int counter = mapi_apply_function(flow, "PKT_COUNTER");
        if (counter < 0 || mapi_connect(flow) < 0)
            fail(device);
        flows.emplace_back(flow, counter);
    }
    if (mapi_start_offline_device(device) < 0)
        fail(device);
    const double begin = now_s(); // what start() prepares is not per packet
    Counted counted;
    if (mapi_wait_flow(flows.front().first, -1) < 0)
        fail(device);
    counted.seconds = now_s() - begin;
    for (const auto &[flow, counter] : flows)
        counted.passed.push_back(*static_cast<uint64_t *>(mapi_read_results_pointer(flow, counter, MAPI_REF)));
    mapi_stat stats = {};
    mapi_stats(device, &stats);
    counted.packets = stats.ps_recv;
    for (const auto &flow : flows)
        mapi_close_flow(flow.first);
    mapi_delete_offline_device(device);
    return counted;
}

double median(std::vector<double> values)
{
    return bench::quantile(std::move(values), 0.5);
}

// Ports that no packet of the capture has.
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
    bench::print({"mapi_500_ports_over_1_ratio", median(ratios), "ratio of packets/s",
                  {{"packets", packets}, {"ns_500", median(many_s) * ns}, {"ns_1", median(one_s) * ns}, {"ratios", ratios}},
                  "500 flows \"port N\" whose ports no packet has, with a counter each, / one of them"},
                 "at least", 0.8);
    return 0;
}

// Vectorscan alone, over packets in memory.
class Bare
{
public:
    Bare(const std::string &capture, const std::vector<std::string> &strings) : hits_(strings.size())
    {
        std::ifstream file(capture, std::ios::binary);
        bytes_.assign(std::istreambuf_iterator<char>(file), {});
        std::vector<const char *> starts;
        std::vector<size_t> lengths;
        std::vector<unsigned> ids;
        for (const std::string &text : strings) {
            starts.push_back(text.data());
            lengths.push_back(text.size());
            ids.push_back(unsigned(ids.size()));
        }
        const std::vector<unsigned> flags(strings.size(), HS_FLAG_SINGLEMATCH);
        hs_compile_error_t *error = nullptr;
        if (hs_compile_lit_multi(starts.data(), flags.data(), ids.data(), lengths.data(), unsigned(strings.size()), HS_MODE_BLOCK, nullptr, &database_, &error) !=
                HS_SUCCESS ||
            hs_alloc_scratch(database_, &scratch_) != HS_SUCCESS)
            fail(error ? error->message : "out of memory");
    }
    ~Bare()
    {
        hs_free_scratch(scratch_);
        hs_free_database(database_);
    }
    Bare(const Bare &) = delete;
    Bare &operator=(const Bare &) = delete;

    double scan()
    {
        std::fill(hits_.begin(), hits_.end(), 0);
        const double begin = now_s();
        for (size_t at = kFileHeaderBytes; at + kRecordHeaderBytes <= bytes_.size();) {
            uint32_t caplen = 0;
            std::memcpy(&caplen, &bytes_[at + 8], sizeof(caplen));
            at += kRecordHeaderBytes;
            hs_scan(database_, &bytes_[at], caplen, 0, scratch_, count, hits_.data());
            at += caplen;
        }
        return now_s() - begin;
    }
    const std::vector<uint64_t> &hits() const { return hits_; }

private:
    static int count(unsigned id, unsigned long long, unsigned long long, unsigned, void *hits)
    {
        ++static_cast<uint64_t *>(hits)[id];
        return 0;
    }

    std::vector<char> bytes_;
    std::vector<uint64_t> hits_;
    hs_database_t *database_ = nullptr;
    hs_scratch_t *scratch_ = nullptr;
};

std::string unhex(const std::string &hex)
{
    std::string text;
    for (size_t i = 0; i + 1 < hex.size(); i += 2)
        text.push_back(char(std::stoi(hex.substr(i, 2), nullptr, 16)));
    return text;
}

int measure_strings(const std::string &capture)
{
    std::vector<Rule> patterns;
    std::vector<std::string> strings;
    for (std::string hex; std::getline(std::cin, hex);) {
        patterns.push_back({.pattern = "|" + hex + "|"});
        strings.push_back(unhex(hex));
    }
    Bare bare(capture, strings);
    std::vector<double> ratios, ours_s, bare_s;
    uint64_t packets = 0, hits = 0;
    for (int round = 0; round < kRounds; ++round) {
        const Counted ours = run(capture, patterns);
        const double seconds = bare.scan();
        if (ours.passed != bare.hits())
            fail("the counts of flows and of Vectorscan alone differ");
        packets = ours.packets;
        ours_s.push_back(ours.seconds);
        bare_s.push_back(seconds);
        ratios.push_back(seconds / ours.seconds);
    }
    for (const uint64_t count : bare.hits())
        hits += count;
    const double ns = 1e9 / double(packets);
    bench::print({"mapi_1000_strings_over_bare_ratio", median(ratios), "ratio of packets/s",
                  {{"packets", packets}, {"hits", hits}, {"strings", strings.size()}, {"ns_mapi", median(ours_s) * ns}, {"ns_bare", median(bare_s) * ns}, {"ratios", ratios}},
                  "1,000 flows STR_SEARCH with a counter each, reading the capture / hs_scan() of packets in memory, one database of the same strings"},
                 "at least", 0.75);
    return 0;
}

// As Snort's rules have them: a protocol and a port on one side.  Most rules share few of them: a fifth the first one.
std::vector<std::string> headers()
{
    std::vector<std::string> headers;
    for (const char *side : {"tcp dst port ", "tcp src port ", "udp dst port ", "udp src port "}) {
        for (const int port : {80, 443, 25, 53, 110, 143, 21, 22, 23, 69, 123, 135, 137, 139, 161, 389, 445, 514, 1433, 1521, 3306, 3389, 5060, 8080, 8443})
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
        rules.push_back({.filter = filters[size_t(share * share * share * double(filters.size()))], .pattern = "|" + hex + "|"});
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
    bench::print({"mapi_500_rules_packets_per_us", double(packets) / median(seconds) / 1e6, "packets/us",
                  {{"packets", packets}, {"hits", hits}, {"rules", rules.size()}, {"headers", filters.size()}, {"seconds", seconds}},
                  "500 flows of BPF_FILTER with one of 100 headers, STR_SEARCH with a string each, and a counter"});
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
