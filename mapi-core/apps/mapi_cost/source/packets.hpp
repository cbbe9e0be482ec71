// SPDX-License-Identifier: MIT
// packets: a capture -> packets in memory; packets -> captures of one size, or files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mapi_cost
{
struct Packet {
    std::uint64_t ntp_time = 0;
    std::uint32_t wire_bytes = 0;
    std::vector<std::uint8_t> bytes;
};

struct PacketLimits {
    std::uint64_t packets;
    std::uint64_t bytes;
};

// The first packets that pass the filter ("": all), read through libmapi.
std::vector<Packet> take_packets(const std::string &path, const std::string &filter, const PacketLimits &limits);

// Bytes of the headers up to the end of TCP or UDP; for what is neither, of the headers that are understood.
std::size_t header_bytes(const std::vector<std::uint8_t> &frame, int link_type);

// `count` frames of `frame_bytes`: headers of the given packets in turn, as they are, then the payload bytes of all of
// them one after another.
std::vector<Packet> make_packets(const std::vector<Packet> &from, int link_type, unsigned frame_bytes,
                                 std::size_t count);

// pcap with nanoseconds.  Throws TempError.
void write_capture(const std::string &path, const std::vector<Packet> &packets, int link_type);

// A string that is in none of the packets; another one for each number.
std::string absent_string(const std::vector<Packet> &packets, unsigned number);

// Bytes of a packet up to the end of the text where it is first, or all; the mean.  None for a text with pipes, which
// STR_SEARCH reads as alternatives or hex bytes.
std::optional<double> searched_bytes(const std::vector<Packet> &packets, const std::string &text);
} // namespace mapi_cost
