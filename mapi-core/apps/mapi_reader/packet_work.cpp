// SPDX-License-Identifier: MIT
// packet_work: filters by libpcap's interpreter, strings by Boyer-Moore.
#include "mapi_reader/packet_work.hpp"

#include <algorithm>
#include <stdexcept>

namespace mapi_reader
{
namespace
{
constexpr int kSnapBytes = 65535;

bpf_program compile(const std::string &expression)
{
    bpf_program program = {};
    pcap_t *handle = pcap_open_dead(DLT_EN10MB, kSnapBytes);
    const int status = pcap_compile(handle, &program, expression.c_str(), 1, PCAP_NETMASK_UNKNOWN);
    const std::string why = status < 0 ? pcap_geterr(handle) : "";
    pcap_close(handle);
    if (status < 0)
        throw std::runtime_error(expression + ": " + why);
    return program;
}
} // namespace

PacketWork::PacketWork(const std::vector<std::string> &filters,
                       const std::vector<std::string> &strings)
    : strings_(strings)
{
    for (const std::string &filter : filters)
        filters_.push_back(compile(filter));
    for (const std::string &text : strings_)
        searchers_.emplace_back(text.data(), text.data() + text.size());
}

PacketWork::~PacketWork()
{
    for (bpf_program &filter : filters_)
        pcap_freecode(&filter);
}

uint64_t PacketWork::matches(const pcap_pkthdr &header, const uint8_t *packet)
{
    const char *const from = reinterpret_cast<const char *>(packet), *const end =
                                                                         from + header.caplen;
    uint64_t found = 0;
    for (const bpf_program &filter : filters_)
        found += pcap_offline_filter(&filter, &header, packet) != 0;
    for (const auto &searcher : searchers_)
        found += std::search(from, end, searcher) != end;
    return found;
}
} // namespace mapi_reader
