// SPDX-License-Identifier: MIT
// Runs every capture of a folder through all filters of a list at once, and compares the packets
// counted by libmapi and by libpcap, called as tcpdump calls it; tcpdump itself checks one filter
// per capture, in turn.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>
#include <set>

#include <mapi/mapi.h>

#include "counted_captures.hpp"
#include "figure.hpp"
#include "filter_counts_pcap.hpp"
#include "support/temp_dir.hpp"

namespace
{
namespace fs = std::filesystem;
using bench::Counts;
using bench::PcapJudge;
using bench::quoted;

// Nullopt if tcpdump refuses the filter or the capture.
std::optional<uint64_t> tcpdump_count(const fs::path &capture, const std::string &filter)
{
    FILE *const out = popen(
        ("tcpdump -r " + quoted(capture) + " --count " + quoted(filter) + " 2>/dev/null").c_str(),
        "r");
    uint64_t count = 0;
    const bool has_count = out && std::fscanf(out, "%lu packet", &count) == 1;
    if (out)
        pclose(out);
    return has_count ? std::optional(count) : std::nullopt;
}

struct Engine {
    std::string refused; // why the capture could not be opened
    std::string message; // when reading ended
    uint64_t packets = 0;
    Counts counts;
};

uint64_t counter(int flow, int function)
{
    return *static_cast<const uint64_t *>(mapi_read_results(flow, function)->res);
}

std::string last_error()
{
    char text[MAPI_ERROR_TEXT_BYTES];
    mapi_read_error(nullptr, text);
    return text;
}

Engine count(const fs::path &capture, const std::vector<std::string> &filters)
{
    Engine engine;
    char *const device = mapi_create_offline_device(capture.c_str(), MFF_PCAP);
    if (!device) {
        engine.refused = last_error();
        return engine;
    }
    const int all = mapi_create_flow(device);
    const int all_packets = mapi_apply_function(all, "PKT_COUNTER");
    mapi_connect(all);
    std::vector<std::pair<int, int>> flows; // flow 0: refused
    for (const std::string &filter : filters) {
        const int flow = mapi_create_flow(device);
        if (mapi_apply_function(flow, "BPF_FILTER", filter.c_str()) < 0) {
            mapi_close_flow(flow);
            flows.emplace_back(0, 0);
            continue;
        }
        flows.emplace_back(flow, mapi_apply_function(flow, "PKT_COUNTER"));
        mapi_connect(flow);
    }
    mapi_start_offline_device(device);
    mapi_wait_flow(all, -1);
    engine.packets = counter(all, all_packets);
    for (const auto &[flow, packets] : flows) {
        engine.counts.push_back(flow ? std::optional(counter(flow, packets)) : std::nullopt);
        if (flow)
            mapi_close_flow(flow);
    }
    mapi_stat_t stats = {};
    if (mapi_stats(device, &stats) == 1)
        engine.message = stats.message;
    mapi_close_flow(all);
    mapi_delete_offline_device(device);
    return engine;
}

struct Totals {
    uint64_t captures = 0, packets = 0, compared = 0, asked_tcpdump = 0;
    std::vector<std::string> differences;
    std::vector<std::string> left_out;
};

std::string reported(const std::optional<uint64_t> &count)
{
    return count ? std::to_string(*count) : "refused";
}

void compare(const fs::path &capture, const std::vector<std::string> &filters,
             const fs::path &folder, Totals &totals)
{
    const fs::path readable = bench::unpacked(capture, folder);
    PcapJudge judge(readable);
    if (!judge.is_open())
        return;
    const Counts &expected = judge.count(filters);
    const Engine engine = count(capture, filters);
    const auto differ = [&](const std::string &what) {
        totals.differences.push_back(capture.string() + ": " + what);
    };
    if (!engine.refused.empty() && judge.has_reserved_bits() && judge.packets() == 0) {
        totals.left_out.push_back(capture.string() + ": refused: " + engine.refused);
        return;
    }
    if (!engine.refused.empty())
        return differ("refused: " + engine.refused);
    if (judge.stopped_at_other_interface() && engine.packets > judge.packets()) {
        totals.left_out.push_back(capture.string() + ": libpcap stops: " + judge.error());
        return;
    }
    ++totals.captures;
    totals.packets += engine.packets;
    if (engine.packets != judge.packets())
        differ(std::to_string(engine.packets) + " packets, libpcap " +
               std::to_string(judge.packets()) + " (" + engine.message + "; " + judge.error() +
               ")");
    const auto reads_file_order = [&](const std::string &filter) {
        return judge.keeps_byte_order() && filter.starts_with("link[");
    };
    for (size_t i = 0; i < filters.size(); ++i) {
        if (reads_file_order(filters[i])) {
            totals.left_out.push_back(capture.string() + ": " + filters[i] +
                                      ": libpcap reads the pseudo header in the file's byte order");
            continue;
        }
        ++totals.compared;
        if (engine.counts[i].value_or(0) != expected[i].value_or(0))
            differ(filters[i] + ": " + reported(engine.counts[i]) + ", libpcap " +
                   reported(expected[i]));
    }
    const size_t asked = totals.captures % filters.size();
    const auto theirs =
        reads_file_order(filters[asked]) ? std::nullopt : tcpdump_count(readable, filters[asked]);
    if (!theirs && !reads_file_order(filters[asked]) && expected[asked] && judge.error().empty())
        differ("tcpdump refuses " + filters[asked]);
    if (theirs) {
        ++totals.asked_tcpdump;
        if (*theirs != engine.counts[asked].value_or(0))
            differ(filters[asked] + ": " + reported(engine.counts[asked]) + ", tcpdump " +
                   reported(theirs));
    }
}
} // namespace

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4) {
        std::cerr << "usage: filter_counts FILTERS FOLDER [N]     FOLDER: overridden by "
                     "NETSLICE_DATA; N: every Nth capture\n";
        return 2;
    }
    const std::set<fs::path> captures = bench::find_captures(argv[2]);
    if (captures.empty()) {
        std::cerr << "no captures at " << argv[2] << "\n";
        return 77;
    }
    if (std::system("command -v tcpdump >/dev/null") != 0) {
        std::cerr << "requires the program tcpdump\n";
        return 77;
    }
    const std::vector<std::string> filters = bench::read_filters(argv[1]);
    const size_t step = argc == 4 ? std::stoul(argv[3]) : 1;
    const test_support::TempDir folder;
    Totals totals;
    size_t at = 0;
    for (const fs::path &capture : captures)
        if (at++ % step == 0)
            compare(capture, filters, folder.path(), totals);
    for (const std::string &line : totals.left_out)
        std::cerr << "left out: " << line << "\n";
    for (const std::string &line : totals.differences)
        std::cerr << "differs: " << line << "\n";
    bench::print({"mapi_filter_count_differences",
                  double(totals.differences.size()),
                  "counts",
                  {{"captures", totals.captures},
                   {"packets", totals.packets},
                   {"filters", filters.size()},
                   {"compared", totals.compared},
                   {"asked_tcpdump", totals.asked_tcpdump},
                   {"left_out", totals.left_out},
                   {"differ", totals.differences}},
                  "all filters in one pass over each capture, compared with libpcap called as "
                  "tcpdump calls it; tcpdump itself for one filter per capture"},
                 "equal", 0);
    return 0;
}
