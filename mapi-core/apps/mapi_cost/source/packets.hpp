// SPDX-License-Identifier: MIT
// packets: a device or an ERF file -> a capture; a capture -> packets in memory; packets ->
// captures of one size, or files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace mapi_cost
{
struct Packet {
    uint64_t ntp_time = 0;
    uint32_t wire_bytes = 0;
    std::vector<uint8_t> bytes;
};

struct PacketLimits {
    uint64_t packets;
    uint64_t bytes;
};

// The first packets that pass the filter ("" passes all), read through libmapi.
std::vector<Packet> take_packets(const std::string &path, const std::string &filter,
                                 const PacketLimits &limits);

// Length of the headers including TCP or UDP; for other packets, of the headers that are
// recognized.
size_t header_bytes(const std::vector<uint8_t> &frame, int link_type);

// `count` frames of `frame_bytes`: the unmodified headers of the given packets in turn, each
// followed by bytes from the concatenated payloads of all of them.
std::vector<Packet> make_packets(const std::vector<Packet> &from, int link_type,
                                 unsigned frame_bytes, size_t count);

// Writes pcap with nanoseconds.  Throws TempError.
void write_capture(const std::string &path, const std::vector<Packet> &packets, int link_type);

// A string that is in none of the packets, different for each number.
std::string absent_string(const std::vector<Packet> &packets, unsigned number);

// Mean number of bytes up to the end of the first occurrence of the text, or of the packet without
// one.  Nullopt for a text with pipes, which STR_SEARCH reads as alternatives or hex bytes.
std::optional<double> searched_bytes(const std::vector<Packet> &packets, const std::string &text);

struct Source {
    std::string name; // of a device, or a path
    bool is_device = false;
};

// Records the first packets; on a device, for at most `seconds`.  Throws MapiError and
// command::Interrupted.
void record(const Source &source, uint64_t packets, uint64_t seconds, const std::string &path);
} // namespace mapi_cost
