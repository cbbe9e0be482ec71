// SPDX-License-Identifier: MIT
// packets: a frame, or a capture -> what is sent, in memory.
#include "packets.hpp"

#include <algorithm>
#include <memory>

#include <fmt/format.h>
#include <pcap/pcap.h>

#include "common/command/signals.h"

namespace mapi_gen
{
namespace
{
constexpr size_t kTagBytes = 4;
constexpr size_t kTypeAt = 12;

bool is_tagged(std::span<const uint8_t> frame)
{
    return frame.size() > kTypeAt + 1 && frame[kTypeAt] == 0x81 && frame[kTypeAt + 1] == 0x00;
}

struct ClosePcap {
    void operator()(pcap_t *capture) const { pcap_close(capture); }
};
using Capture = std::unique_ptr<pcap_t, ClosePcap>;

Capture open(const std::string &path)
{
    char why[PCAP_ERRBUF_SIZE] = "";
    Capture capture(pcap_open_offline(path.c_str(), why));
    if (!capture) // libpcap's text begins with the path if the file cannot be opened
        throw Refusal(std::string(why).starts_with(path) ? why : fmt::format("{}: {}", path, why));
    if (const int type = pcap_datalink(capture.get()); type != DLT_EN10MB)
        throw Refusal(
            fmt::format("{}: link type {}: only captures of Ethernet can be sent", path, type));
    return capture;
}
} // namespace

bool fits(std::span<const uint8_t> frame, unsigned mtu)
{
    return frame.size() <= kEthernetBytes + mtu + (is_tagged(frame) ? kTagBytes : 0);
}

void Packets::add(std::span<const uint8_t> packet)
{
    places.push_back({bytes.size(), uint32_t(packet.size())});
    bytes.insert(bytes.end(), packet.begin(), packet.end());
    longest_bytes = std::max<uint64_t>(longest_bytes, packet.size());
    all_wire_bytes += wire_bytes(packet.size());
}

Packets generate(const FrameSetup &setup, unsigned mtu)
{
    const std::vector<uint8_t> frame = build_frame(setup);
    if (!fits(frame, mtu))
        throw Refusal(fmt::format(
            "--size {}: the interface's MTU of {} allows frames of {} bytes (ip link set mtu)",
            setup.wire_bytes, mtu, mtu + kEthernetBytes + kChecksumBytes));
    Packets packets;
    packets.source_ports = setup.source_ports;
    packets.add(frame);
    return packets;
}

Packets read_capture(const std::string &path, unsigned mtu, uint64_t most_bytes)
{
    const Capture capture = open(path);
    Packets packets;
    packets.is_generated = false;
    pcap_pkthdr *header = nullptr;
    const u_char *data = nullptr;
    int result = 0;
    while ((result = pcap_next_ex(capture.get(), &header, &data)) == 1) {
        if (command_was_interrupted())
            throw Refusal(fmt::format("{}: interrupted while it was read", path));
        const std::span<const uint8_t> packet(data, header->caplen);
        if (packet.size() < kEthernetBytes) {
            ++packets.too_short;
        } else if (!fits(packet, mtu)) {
            ++packets.too_long;
        } else {
            packets.cut += header->caplen < header->len;
            packets.add(packet);
        }
        if (packets.bytes.size() > most_bytes)
            throw Refusal(fmt::format("{}: more than {} MiB of packets, which are sent from "
                                      "memory (shorten it: tcpdump -r FILE -c N -w SHORT)",
                                      path, most_bytes >> 20));
    }
    if (result == PCAP_ERROR)
        throw Refusal(fmt::format("{}: {}", path, pcap_geterr(capture.get())));
    if (packets.places.empty())
        throw Refusal(
            fmt::format("{}: no packet that can be sent ({} too long for the MTU of {}, {} without "
                        "an Ethernet header)",
                        path, packets.too_long, mtu, packets.too_short));
    return packets;
}
} // namespace mapi_gen
