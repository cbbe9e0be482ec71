// SPDX-License-Identifier: MIT
// Runs every packet of the captures with known counts through one XDP program with all strings, and
// compares the packets counted.
#include <fstream>
#include <iostream>
#include <memory>

#include <pcap/pcap.h>

#include "counted_captures.hpp"
#include "figure.hpp"
#include "support/xdp_programs.hpp"
#include "support/xdp_search.hpp"

namespace
{
using mapi::drivers::xdp::KernelRefusal;
using mapi::drivers::xdp::test_run;
using mapi::match::LetterCase;
using nlohmann::json;
using test_support::Search;
namespace fs = std::filesystem;

constexpr size_t kFewestBytes = 14; // of a packet that BPF_PROG_TEST_RUN takes

std::string hex_pattern(const std::string &digits)
{
    std::string pattern = "|";
    for (size_t i = 0; i < digits.size(); i += 2)
        pattern += digits.substr(i, 2) + " ";
    return pattern + "|";
}

struct Totals {
    uint64_t captures = 0, packets = 0, short_packets = 0, undecided = 0;
    std::vector<std::string> differences;
};

// All strings as one program, each in a flow of its own.
class Searches
{
public:
    explicit Searches(const json &strings)
    {
        for (const json &string : strings) {
            searches_.push_back(std::make_shared<const Search>(
                hex_pattern(string["hex"]), int(string["offset"]), int(string["depth"]),
                string["nocase"] ? LetterCase::kIgnored : LetterCase::kExact));
            add(nodes_, searches_.back(), MAPI_OFFLOAD_ALL);
        }
        program_ = machine_.make(nodes_);
        for (const mapi_offload_node &node : nodes_.nodes)
            if (!node.is_taken)
                throw std::runtime_error(std::string("a string is left to the engine: ") +
                                         node.reason);
    }

    // Since the last call.
    std::vector<uint64_t> count(pcap_t *file, Totals &totals)
    {
        std::vector<uint64_t> counts(searches_.size(), 0);
        pcap_pkthdr *header;
        const u_char *data;
        while (pcap_next_ex(file, &header, &data) == 1) {
            ++totals.packets;
            if (header->caplen >= kFewestBytes)
                test_run(program_->descriptor(), {data, header->caplen});
            else
                ++totals.short_packets;
            const bool is_undecided = machine_.rings.take(machine_.setup.number);
            machine_.rings.release();
            totals.undecided += is_undecided;
            if (header->caplen < kFewestBytes || is_undecided)
                for (size_t i = 0; i < counts.size(); ++i)
                    counts[i] += searches_[i]->matches({data, data + header->caplen});
        }
        const auto now = test_support::counts(*program_);
        for (size_t i = 0; i < counts.size(); ++i)
            counts[i] += now[i].packets - before_[i].packets;
        before_ = now;
        return counts;
    }

private:
    test_support::Machine machine_;
    test_support::Nodes nodes_;
    std::vector<std::shared_ptr<const Search>> searches_;
    std::unique_ptr<mapi::drivers::xdp::Program> program_;
    std::vector<mapi_offload_count> before_ = std::vector<mapi_offload_count>(1024);
};

void compare(const fs::path &capture, const json &expected, Searches &searches, Totals &totals)
{
    char text[PCAP_ERRBUF_SIZE];
    pcap_t *const file = pcap_open_offline(capture.c_str(), text);
    if (!file)
        throw std::runtime_error(text);
    const std::vector<uint64_t> counts = searches.count(file, totals);
    pcap_close(file);
    ++totals.captures;
    for (size_t i = 0; i < counts.size(); ++i)
        if (expected[i] != counts[i])
            totals.differences.push_back(capture.string() + ": string " + std::to_string(i) + ": " +
                                         std::to_string(counts[i]) + ", expected " +
                                         expected[i].dump());
}
} // namespace

int main(int argc, char **argv)
{
    const char *const named = std::getenv("NETSLICE_DATA");
    if (argc != 2) {
        std::cerr << "usage: kernel_search_counts FOLDER     FOLDER: overridden by NETSLICE_DATA\n";
        return 2;
    }
    const fs::path folder = named ? named : argv[1];
    std::ifstream input(folder / "EXPECTED_COUNTS.json");
    if (!input) {
        std::cerr << "no EXPECTED_COUNTS.json at " << folder << "\n";
        return 77;
    }
    const json expected = json::parse(input);
    Totals totals;
    try {
        Searches searches(expected["strings"]);
        for (const auto &[name, numbers] : expected["captures"].items())
            if (fs::exists(folder / name))
                compare(folder / name, numbers["strings"], searches, totals);
    } catch (const KernelRefusal &refusal) {
        std::cerr << refusal.what() << "\n";
        return 77;
    } catch (const std::exception &error) {
        std::cerr << error.what() << "\n";
        return 1;
    }
    for (const std::string &line : totals.differences)
        std::cerr << "differs: " << line << "\n";
    bench::print({"mapi_kernel_string_count_differences",
                  double(totals.differences.size()),
                  "counts",
                  {{"captures", totals.captures},
                   {"packets", totals.packets},
                   {"strings", expected["strings"].size()},
                   {"too_short_for_a_test_run", totals.short_packets},
                   {"left_to_the_engine", totals.undecided},
                   {"differ", totals.differences}},
                  "all strings of EXPECTED_COUNTS.json in one XDP program, by BPF_PROG_TEST_RUN"},
                 "equal", 0);
    return 0;
}
