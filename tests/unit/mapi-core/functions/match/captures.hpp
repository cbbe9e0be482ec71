// SPDX-License-Identifier: MIT
// Capture file -> its packets in memory; read with libpcap, so that the reference decides what a
// packet is.
#pragma once

#include <pcap/pcap.h>

#include <cstdint>
#include <filesystem>
#include <vector>

#include <mapi/packet.h>

namespace match_test
{
struct Capture {
    int link_type = 0;
    int snaplen_bytes = 0;
    std::vector<uint8_t> bytes;
    std::vector<mapi_packet> packets; // views of bytes

    static Capture read(const std::filesystem::path &path)
    {
        Capture capture;
        char message[PCAP_ERRBUF_SIZE];
        pcap_t *file = pcap_open_offline(path.c_str(), message);
        if (!file)
            return capture;
        capture.link_type = pcap_datalink(file);
        capture.snaplen_bytes = pcap_snapshot(file);
        std::vector<size_t> starts;
        pcap_pkthdr *header = nullptr;
        const u_char *data = nullptr;
        while (pcap_next_ex(file, &header, &data) == 1) {
            mapi_packet view{};
            view.caplen = header->caplen;
            view.wire_len = header->len;
            capture.packets.push_back(view);
            starts.push_back(capture.bytes.size());
            capture.bytes.insert(capture.bytes.end(), data, data + header->caplen);
        }
        pcap_close(file);
        for (size_t at = 0; at < starts.size(); ++at)
            capture.packets[at].data = capture.bytes.data() + starts[at];
        return capture;
    }

    Capture() = default;
    Capture(Capture &&) = default; // moving a vector keeps its memory, so the views stay valid
    Capture(const Capture &) = delete;
};
} // namespace match_test
