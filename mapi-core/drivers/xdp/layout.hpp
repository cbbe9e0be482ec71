// SPDX-License-Identifier: MIT
// What the XDP program and this process share: words of its maps, and the record of a packet.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

namespace mapi::drivers::xdp
{
// Of a packet: each has a program of its own, with the same nodes.
enum class Direction : uint8_t { kIncoming, kOutgoing };

// Counts of one program, for each CPU: the packets and wire bytes of all packets, what the program
// knows about the current packet, then packets and wire bytes of each node.  One writer: the
// programs of both directions run with bottom halves disabled, so on one CPU neither interrupts the
// other.
enum CountWord : uint32_t {
    kAllPackets,
    kAllBytes,
    kWantedBytes,
    kCopiedBytes, // of a packet in several pieces
    kVerdicts,
};

// Words of a search, after the counts of the nodes.
enum SearchWord : uint32_t {
    kSearchEnd, // enum SearchEnd: how the search of the current packet has ended
    kSearchState,
    kOutputsLeft, // that the search may still look at
    kFoundBits,   // of the nodes whose text the packet contains
};
enum SearchEnd : int32_t { kNotSearched, kSearched, kEndedEarly };

// Words of a flow's hash, after those of a search.
enum HashWord : uint32_t {
    kFlowHash,                  // enum FlowHash
    kKeyWords,                  // what is hashed
    kHeadWords = kKeyWords + 5, // the first bytes of the packet
    kHashWords = kHeadWords + 10,
};

// A ring of packet records, for each CPU and direction: the head of words below, the data, and room
// for a record that begins just before the data's end.  One writer, the program; one reader.
// Positions only grow.
enum RingWord : uint32_t {
    kWritten = 0,   // bytes; the record before is complete
    kTaken = 8,     // bytes that may be overwritten; a cache line of its own
    kRingFull = 16, // packets that found no room
    kUnreadable,    // packets whose bytes the kernel did not copy
    kRingHeadWords = 32,
};

struct PacketRecord {
    uint32_t bytes; // of the whole record, with verdicts and padding
    uint16_t caplen;
    uint16_t packet_type; // of mapi_packet: PACKET_HOST or PACKET_OUTGOING
    uint64_t time_ns;     // CLOCK_MONOTONIC
    uint32_t wire_bytes;
    uint32_t program; // number of the program that has run on it
    // then verdicts, one bit for each node that wants packets, and the packet's bytes
};
static_assert(sizeof(PacketRecord) == 24);

constexpr uint32_t kVerdictWordsMax = 16;
constexpr uint32_t kSnaplenMax = 65535;
// One store of 32 bits writes the length and, for an incoming packet, the type.
static_assert(kSnaplenMax <= UINT16_MAX && std::endian::native == std::endian::little);
constexpr uint32_t kRecordBytesMax =
    (sizeof(PacketRecord) + size_t{8} * kVerdictWordsMax + kSnaplenMax + 7) / 8 * 8;

// The rings of all CPUs for incoming packets, then those for outgoing ones.  A ring for both would
// not be read in its order: the programs are replaced one after the other, so the previous one of
// one direction still writes after the next one of the other.
struct RingLayout {
    uint32_t cpus;
    uint32_t data_bytes; // of each ring, a power of two
    bool has_outgoing = false;

    uint32_t rings() const { return has_outgoing ? 2 * cpus : cpus; }
    uint32_t first_byte(Direction direction) const
    {
        return direction == Direction::kOutgoing ? cpus * stride_bytes() : 0;
    }
    uint32_t stride_bytes() const
    {
        return 8 * kRingHeadWords + data_bytes + (kRecordBytesMax + 63) / 64 * 64;
    }
};
} // namespace mapi::drivers::xdp
