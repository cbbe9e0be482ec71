// SPDX-License-Identifier: MIT
// packets: a device or an ERF file -> a capture; a capture -> packets in memory; packets ->
// captures of one size, or files.
#include "packets.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include <pcap/pcap.h>

#include "mapi_handle.hpp"
#include "temp_folder.hpp"

namespace mapi_cost
{
namespace
{
constexpr uint64_t kNtpToUnixSeconds = 2208988800;
constexpr size_t kPlainHeaderBytes = 54; // Ethernet, IPv4 and TCP without options
constexpr size_t kSmallestPayload = 256; // with less, all frames would be alike

std::string_view text_of(const Packet &packet)
{
    return {reinterpret_cast<const char *>(packet.bytes.data()), packet.bytes.size()};
}

size_t transport_bytes(const std::vector<uint8_t> &frame, size_t at, uint8_t protocol)
{
    if (protocol == 17)
        return 8;
    if (protocol == 6 && frame.size() > at + 12)
        return std::max<size_t>(20, size_t(frame[at + 12] / 16) * 4);
    return 0;
}

std::vector<uint8_t> payloads(const std::vector<Packet> &packets, int link_type)
{
    std::vector<uint8_t> all;
    for (const Packet &packet : packets) {
        const size_t begin = header_bytes(packet.bytes, link_type);
        all.insert(all.end(), packet.bytes.begin() + ptrdiff_t(begin), packet.bytes.end());
    }
    for (size_t i = 0; i < packets.size() && all.size() < kSmallestPayload; ++i)
        all.insert(all.end(), packets[i].bytes.begin(), packets[i].bytes.end());
    if (all.empty())
        all.push_back(0);
    return all;
}
} // namespace

std::vector<Packet> take_packets(const std::string &path, const std::string &filter,
                                 const PacketLimits &limits)
{
    Device device(path, 1, MAPI_BATCH_MAX);
    Flow flow(device);
    if (!filter.empty())
        flow.apply({"BPF_FILTER", {filter}});
    const int buffer = flow.apply({"TO_BUFFER", {WAIT}});
    flow.connect();
    device.start();
    std::vector<Packet> packets;
    for (uint64_t bytes = 0; packets.size() < limits.packets && bytes < limits.bytes;) {
        const mapipkt *packet = mapi_get_next_pkt(flow.descriptor(), buffer);
        if (!packet)
            break;
        stop_if_interrupted();
        packets.push_back(
            {packet->ts, packet->wlen, {&packet->pkt, &packet->pkt + packet->caplen}});
        bytes += packet->caplen;
    }
    return packets;
}

size_t header_bytes(const std::vector<uint8_t> &frame, int link_type)
{
    if (link_type != DLT_EN10MB)
        return std::min(frame.size(), kPlainHeaderBytes);
    size_t at = 12;
    const auto type = [&] { return at + 2 <= frame.size() ? frame[at] << 8 | frame[at + 1] : 0; };
    while (type() == 0x8100 || type() == 0x88a8)
        at += 4;
    const int ethertype = type();
    at += 2;
    if (ethertype == 0x0800 && frame.size() > at + 9) {
        const size_t network = std::max(20, (frame[at] & 15) * 4);
        at += network + transport_bytes(frame, at + network, frame[at + 9]);
    } else if (ethertype == 0x86dd && frame.size() > at + 6) {
        at += 40 + transport_bytes(frame, at + 40, frame[at + 6]);
    }
    return std::min(frame.size(), at);
}

std::vector<Packet> make_packets(const std::vector<Packet> &from, int link_type,
                                 unsigned frame_bytes, size_t count)
{
    const std::vector<uint8_t> payload = payloads(from, link_type);
    std::vector<Packet> made;
    made.reserve(count);
    size_t place = 0;
    for (size_t i = 0; i < count; ++i) {
        const Packet &model = from[i % from.size()];
        const size_t head = std::min<size_t>(header_bytes(model.bytes, link_type), frame_bytes);
        Packet packet{model.ntp_time,
                      frame_bytes,
                      {model.bytes.begin(), model.bytes.begin() + ptrdiff_t(head)}};
        while (packet.bytes.size() < frame_bytes) {
            const size_t piece =
                std::min(frame_bytes - packet.bytes.size(), payload.size() - place);
            packet.bytes.insert(packet.bytes.end(), payload.begin() + ptrdiff_t(place),
                                payload.begin() + ptrdiff_t(place + piece));
            place = (place + piece) % payload.size();
        }
        made.push_back(std::move(packet));
    }
    return made;
}

void write_capture(const std::string &path, const std::vector<Packet> &packets, int link_type)
{
    const auto fail = [&] {
        throw TempError(path + ": cannot write: " + std::strerror(errno) +
                        " (set TMPDIR to a folder with free space)");
    };
    // The snap length: larger than any packet here.
    const std::unique_ptr<pcap_t, decltype(&pcap_close)> format(
        pcap_open_dead_with_tstamp_precision(link_type, 1 << 18, PCAP_TSTAMP_PRECISION_NANO),
        pcap_close);
    std::FILE *file = std::fopen(path.c_str(), "wb");
    if (!file)
        fail();
    const std::unique_ptr<pcap_dumper_t, decltype(&pcap_dump_close)> dump(
        pcap_dump_fopen(format.get(), file), pcap_dump_close);
    if (!dump) {
        std::fclose(file);
        throw TempError(path + ": cannot write: " + pcap_geterr(format.get()));
    }
    for (const Packet &packet : packets) {
        pcap_pkthdr header = {};
        header.ts.tv_sec = time_t((packet.ntp_time >> 32) - kNtpToUnixSeconds);
        header.ts.tv_usec =
            static_cast<suseconds_t>((packet.ntp_time & 0xffffffff) * 1'000'000'000 >> 32);
        header.caplen = static_cast<bpf_u_int32>(packet.bytes.size());
        header.len = packet.wire_bytes;
        pcap_dump(reinterpret_cast<u_char *>(dump.get()), &header, packet.bytes.data());
    }
    if (pcap_dump_flush(dump.get()) != 0 || std::ferror(file))
        fail();
}

std::string absent_string(const std::vector<Packet> &packets, unsigned number)
{
    for (unsigned attempt = 0;; ++attempt) {
        std::string text = "/bin/perl.exe";
        if (number > 0 || attempt > 0)
            text = "/bin/" + std::to_string(number) + "perl" + std::to_string(attempt) + ".exe";
        const auto holds = [&](const Packet &packet) {
            return text_of(packet).find(text) != std::string_view::npos;
        };
        if (std::none_of(packets.begin(), packets.end(), holds))
            return text;
    }
}

std::optional<double> searched_bytes(const std::vector<Packet> &packets, const std::string &text)
{
    if (packets.empty() || text.find('|') != std::string::npos)
        return std::nullopt;
    double bytes = 0;
    for (const Packet &packet : packets) {
        const size_t place = text_of(packet).find(text);
        bytes +=
            double(place == std::string_view::npos ? packet.bytes.size() : place + text.size());
    }
    return bytes / double(packets.size());
}

// Runs TO_FILE until it has enough packets, the source ends, or the time is up.
void record(const Source &source, uint64_t packets, uint64_t seconds, const std::string &path)
{
    using Clock = std::chrono::steady_clock;
    Flow flow(source.is_device ? mapi_create_flow(source.name.c_str())
                               : mapi_create_offline_flow(source.name.c_str(), MFF_DAG_ERF));
    const int file = flow.apply_to_file(path, int(std::min<uint64_t>(packets, INT_MAX)));
    flow.connect();
    const auto end = Clock::now() + std::chrono::seconds(seconds);
    while (!flow.wait(20) && flow.file_state(file) != MAPI_FILE_DONE &&
           (!source.is_device || Clock::now() < end))
        stop_if_interrupted();
    stop_if_interrupted();
}
} // namespace mapi_cost
