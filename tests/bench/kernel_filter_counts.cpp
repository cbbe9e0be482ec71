// SPDX-License-Identifier: MIT
// Runs every packet of every capture of a folder through all filters of a list, as eBPF in the
// kernel, and compares the packets counted with libpcap's, called as tcpdump calls it.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>

#include <pcap/pcap.h>

#include "counted_captures.hpp"
#include "figure.hpp"
#include "filter_counts_pcap.hpp"
#include "match/bpf/bpf_program.hpp"
#include "match/errors.hpp"
#include "support/kernel_filters.hpp"
#include "support/temp_dir.hpp"

namespace
{
namespace fs = std::filesystem;
using mapi::drivers::xdp::KernelRefusal;
using mapi::match::BpfProgram;
using mapi::match::EbpfBytes;
using test_support::KernelFilters;

// All filters of the list for a link type: in the kernel, except what it refuses.
class Filters
{
public:
    Filters(const std::vector<std::string> &expressions, int link_type)
        : is_good_(expressions.size(), false)
    {
        std::vector<size_t> all;
        programs_.reserve(expressions.size());
        for (const std::string &expression : expressions) {
            try {
                programs_.push_back(BpfProgram::compile(expression, link_type, 0));
                const size_t at = programs_.size() - 1;
                is_good_[at] = true;
                all.push_back(at);
            } catch (const mapi::match::FilterError &) {
                programs_.push_back(BpfProgram::compile("", link_type, 0));
            }
        }
        load(all);
    }

    void count(const uint8_t *data, uint32_t caplen, uint32_t wire_bytes,
               std::vector<uint64_t> &counts)
    {
        for (const auto &[kernel, filters] : parts_) {
            const auto verdicts = kernel->run({data, caplen}, wire_bytes);
            for (size_t i = 0; i < filters.size(); ++i)
                counts[filters[i]] += verdicts[i / 64] >> i % 64 & 1;
        }
    }
    bool is_good(size_t filter) const { return is_good_[filter]; }
    const std::vector<size_t> &refused() const { return refused_; }

private:
    void load(const std::vector<size_t> &filters)
    {
        std::vector<mapi::match::BpfSteps> steps;
        for (const size_t filter : filters)
            steps.push_back(programs_[filter].instructions());
        try {
            parts_.emplace_back(std::make_unique<KernelFilters>(steps, EbpfBytes::kBuffer),
                                filters);
        } catch (const KernelRefusal &refusal) {
            if (refusal.number() == EPERM)
                throw;
            if (filters.size() == 1)
                return refused_.push_back(filters[0]);
            const auto middle = filters.begin() + ptrdiff_t(filters.size() / 2);
            load({filters.begin(), middle});
            load({middle, filters.end()});
        }
    }

    std::vector<BpfProgram> programs_;
    std::vector<bool> is_good_;
    std::vector<std::pair<std::unique_ptr<KernelFilters>, std::vector<size_t>>> parts_;
    std::vector<size_t> refused_;
};

struct Totals {
    uint64_t captures = 0, packets = 0, compared = 0;
    std::vector<std::string> differences;
    std::map<std::string, uint64_t> refused; // filter -> link types
};

Filters &filters_for(int link_type, const std::vector<std::string> &expressions, Totals &totals)
{
    static std::map<int, std::unique_ptr<Filters>> known;
    std::unique_ptr<Filters> &filters = known[link_type];
    if (!filters) {
        filters = std::make_unique<Filters>(expressions, link_type);
        for (const size_t filter : filters->refused())
            ++totals.refused[expressions[filter]];
    }
    return *filters;
}

void compare(const fs::path &capture, const std::vector<std::string> &expressions,
             const fs::path &folder, Totals &totals)
{
    const fs::path readable = bench::unpacked(capture, folder);
    bench::PcapJudge judge(readable);
    // Otherwise libpcap's filters are for the file's byte order, those of the kernel for this
    // machine's.
    if (!judge.is_open() || judge.keeps_byte_order() || judge.has_reserved_bits())
        return;
    const bench::Counts &expected = judge.count(expressions);
    char text[PCAP_ERRBUF_SIZE];
    pcap_t *const file = pcap_open_offline(readable.c_str(), text);
    Filters &filters = filters_for(pcap_datalink(file), expressions, totals);
    std::vector<uint64_t> counts(expressions.size(), 0);
    pcap_pkthdr *header;
    const u_char *data;
    while (pcap_next_ex(file, &header, &data) == 1) {
        ++totals.packets;
        // As the driver does with what is longer.
        filters.count(data, std::min(header->caplen, mapi::match::kEbpfPacketBytesMax), header->len,
                      counts);
    }
    pcap_close(file);
    ++totals.captures;
    const auto &refused = filters.refused();
    for (size_t i = 0; i < expressions.size(); ++i) {
        if (std::find(refused.begin(), refused.end(), i) != refused.end() ||
            (!filters.is_good(i) && !expected[i]))
            continue;
        ++totals.compared;
        if (counts[i] != expected[i].value_or(0))
            totals.differences.push_back(capture.string() + ": " + expressions[i] + ": " +
                                         std::to_string(counts[i]) + ", libpcap " +
                                         std::to_string(expected[i].value_or(0)));
    }
}
} // namespace

int main(int argc, char **argv)
{
    if (argc != 3 && argc != 4) {
        std::cerr << "usage: kernel_filter_counts FILTERS FOLDER [N]     FOLDER: overridden by "
                     "NETSLICE_DATA; N: every Nth capture\n";
        return 2;
    }
    const std::set<fs::path> captures = bench::find_captures(argv[2]);
    if (captures.empty()) {
        std::cerr << "no captures at " << argv[2] << "\n";
        return 77;
    }
    const std::vector<std::string> filters = bench::read_filters(argv[1]);
    const size_t step = argc == 4 ? std::stoul(argv[3]) : 1;
    const test_support::TempDir folder;
    Totals totals;
    size_t at = 0;
    try {
        for (const fs::path &capture : captures)
            if (at++ % step == 0)
                compare(capture, filters, folder.path(), totals);
    } catch (const KernelRefusal &refusal) {
        std::cerr << refusal.what() << "\n";
        return 77;
    }
    for (const auto &[filter, link_types] : totals.refused)
        std::cerr << "left to the engine for " << link_types << " link types: " << filter << "\n";
    for (const std::string &line : totals.differences)
        std::cerr << "differs: " << line << "\n";
    bench::print({"mapi_kernel_filter_count_differences",
                  double(totals.differences.size()),
                  "counts",
                  {{"captures", totals.captures},
                   {"packets", totals.packets},
                   {"filters", filters.size()},
                   {"compared", totals.compared},
                   {"left_to_the_engine", totals.refused},
                   {"differ", totals.differences}},
                  "all filters as eBPF, by BPF_PROG_TEST_RUN, compared with libpcap called as "
                  "tcpdump calls it"},
                 "equal", 0);
    return 0;
}
