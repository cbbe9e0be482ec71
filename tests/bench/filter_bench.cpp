// SPDX-License-Identifier: MIT
// Filters as machine code compared with libpcap's interpreter, on cached packets.  Reads
// expressions from standard input.
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <vector>

#include <pcap/pcap.h>

#include "figure.hpp"
#include "match/bpf/bpf_program.hpp"
#include "match/errors.hpp"

namespace
{
using mapi::match::BpfProgram;

constexpr int kRounds = 9;
constexpr int kPasses = 20;
constexpr size_t kPackets = 2048; // 350 bytes on average: fits a second-level cache

double now_s()
{
    timespec now = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return double(now.tv_sec) + double(now.tv_nsec) * 1e-9;
}

struct Packets {
    std::vector<uint8_t> bytes;
    std::vector<mapi_packet> views;

    explicit Packets(const char *path)
    {
        char message[PCAP_ERRBUF_SIZE] = "";
        pcap_t *file = pcap_open_offline(path, message);
        if (!file) {
            std::cerr << message << '\n';
            std::exit(1);
        }
        std::vector<size_t> starts;
        pcap_pkthdr *header = nullptr;
        const u_char *data = nullptr;
        while (views.size() < kPackets && pcap_next_ex(file, &header, &data) == 1) {
            starts.push_back(bytes.size());
            bytes.insert(bytes.end(), data, data + header->caplen);
            mapi_packet view = {};
            view.caplen = header->caplen;
            view.wire_len = header->len;
            views.push_back(view);
        }
        pcap_close(file);
        for (size_t i = 0; i < views.size(); ++i)
            views[i].data = bytes.data() + starts[i];
    }
};

// CPU nanoseconds per packet; `matching` is set to the number of matches in all passes.
double run(const BpfProgram &program, const Packets &packets, uint64_t &matching)
{
    matching = 0;
    const double begin = now_s();
    for (int pass = 0; pass < kPasses; ++pass) {
        for (size_t at = 0; at + MAPI_BATCH_MAX <= packets.views.size(); at += MAPI_BATCH_MAX)
            matching +=
                uint64_t(__builtin_popcountll(program.filter(&packets.views[at], ~uint64_t{0})));
    }
    return (now_s() - begin) * 1e9 /
           double(kPasses * (packets.views.size() / MAPI_BATCH_MAX * MAPI_BATCH_MAX));
}
} // namespace

int main(int argc, char **argv)
{
    if (argc != 2) {
        std::cerr << "usage: filter_bench CAPTURE < EXPRESSIONS\n";
        return 2;
    }
    const Packets packets(argv[1]);
    std::vector<double> ratios, native_sum(kRounds), interpreted_sum(kRounds);
    nlohmann::json rows = nlohmann::json::array();
    for (std::string expression; std::getline(std::cin, expression);) {
        const BpfProgram native = BpfProgram::compile(expression, 1, 0),
                         interpreted = BpfProgram::compile(expression, 1, 0,
                                                           BpfProgram::Engine::kInterpreter);
        if (!native.is_native()) {
            std::cerr << "machine code is not available here\n";
            return 77;
        }
        std::vector<double> native_ns, interpreted_ns;
        for (int round = 0; round < kRounds; ++round) {
            uint64_t found = 0, expected = 0;
            native_ns.push_back(run(native, packets, found));
            interpreted_ns.push_back(run(interpreted, packets, expected));
            if (found != expected) {
                std::cerr << expression << ": " << found << " packets, not " << expected << '\n';
                return 1;
            }
            native_sum[size_t(round)] += native_ns.back();
            interpreted_sum[size_t(round)] += interpreted_ns.back();
        }
        const double ours = bench::quantile(native_ns, 0.5),
                     theirs = bench::quantile(interpreted_ns, 0.5);
        ratios.push_back(theirs / ours);
        rows.push_back(
            {{"expression", expression}, {"native_ns", ours}, {"interpreter_ns", theirs}});
    }
    std::vector<double> sums;
    for (int round = 0; round < kRounds; ++round)
        sums.push_back(interpreted_sum[size_t(round)] / native_sum[size_t(round)]);
    bench::print({"mapi_filter_over_interpreter_ratio",
                  bench::quantile(sums, 0.5),
                  "ratio of packets/s",
                  {{"filters", rows.size()},
                   {"median_of_filters", bench::quantile(ratios, 0.5)},
                   {"worst_filter", bench::quantile(ratios, 0)},
                   {"rows", rows}},
                  "all filters of EXPECTED_COUNTS.json (otherwise of filters.txt) over the same "
                  "cached packets; CPU time of the interpreter / of machine code"},
                 "at least", 2.5);
    return 0;
}
