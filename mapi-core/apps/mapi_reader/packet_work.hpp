// SPDX-License-Identifier: MIT
// packet_work: bytes of a packet -> how many filters and strings match.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <pcap/pcap.h>

namespace mapi_reader
{
// As in programs written for libpcap: one filter after the other, and for each string a search with
// the Boyer-Moore algorithm, of all bytes of the packet.
class PacketWork
{
public:
    // Throws std::runtime_error.
    PacketWork(const std::vector<std::string> &filters, const std::vector<std::string> &strings);
    ~PacketWork();
    PacketWork(const PacketWork &) = delete;
    PacketWork &operator=(const PacketWork &) = delete;

    uint64_t matches(const pcap_pkthdr &header, const uint8_t *packet);

private:
    const std::vector<std::string> strings_; // the searchers refer to it
    std::vector<bpf_program> filters_;
    std::vector<std::boyer_moore_searcher<const char *>> searchers_;
};
} // namespace mapi_reader
