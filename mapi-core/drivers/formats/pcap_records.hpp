// SPDX-License-Identifier: MIT
// Records of classic pcap: bytes in memory -> packet views, for the packet thread and for the
// read-ahead thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "drivers/bytes/piece_index.hpp"
#include "drivers/formats/capture_format.hpp"
#include "links/host_order.hpp"

namespace mapi::drivers
{
struct PcapVariant {
    uint32_t magic;
    uint32_t record_header_bytes;
    uint32_t ns_per_fraction;
};

struct PcapSettings {
    PcapVariant variant;
    bool is_early;            // writers of format 2.3 may have stored the wire length first,
    bool lengths_are_swapped; // writers of earlier formats did
    uint32_t max_caplen;
    uint32_t snaplen;
    uint16_t link_type;
    links::Swap swap; // for pseudo headers, in a file of the other byte order; null if there is
                      // nothing to swap
};

struct PcapLengths {
    uint32_t caplen;
    uint32_t wire_len;
};

// The packets of a batch so far, and the start of the next record.
struct PcapTaken {
    const uint8_t *record;
    uint32_t count = 0;
    uint64_t wire_bytes = 0;
};

template <bool kSwapped>
PcapLengths pcap_lengths(const PcapSettings &settings, const uint8_t *record)
{
    PcapLengths l = {load_u32<kSwapped>(record + 8), load_u32<kSwapped>(record + 12)};
    if (settings.is_early && (settings.lengths_are_swapped || l.caplen > l.wire_len)) [[unlikely]]
        std::swap(l.caplen, l.wire_len);
    return l;
}

template <bool kSwapped>
inline void show_pcap(mapi_packet &packet, const PcapSettings &settings, const uint8_t *record,
                      PcapLengths lengths)
{
    packet.data = record + settings.variant.record_header_bytes;
    packet.caplen = lengths.caplen;
    packet.wire_len = lengths.wire_len;
    packet.timestamp_ns =
        uint64_t(load_u32<kSwapped>(record)) * 1000000000u +
        uint64_t(load_u32<kSwapped>(record + 4)) * settings.variant.ns_per_fraction;
    packet.link_type = settings.link_type;
    packet.ifindex = 0;
    packet.packet_type = 0;
}

// Complete records with valid lengths, up to the first other one.  Every packet of a capture takes
// this path, so rare cases are tested together.  swap_bytes(packet) is called if the file's pseudo
// headers are in the other byte order.
template <bool kSwapped, class SwapBytes>
void take_plain_pcap(const PcapSettings &shared, const uint8_t *end, mapi_packet *packets,
                     uint32_t limit, PcapTaken &taken, SwapBytes swap_bytes)
{
    const PcapSettings settings = shared; // a local copy, which stores to packet views cannot alias
    if (settings.is_early)
        return;
    const uint32_t longest = std::min(settings.max_caplen, settings.snaplen);
    const uint32_t header_bytes = settings.variant.record_header_bytes;
    const uint8_t *record = taken.record;
    uint64_t wire_bytes = taken.wire_bytes;
    uint32_t count = taken.count;
    for (; count < limit && size_t(end - record) >= header_bytes; ++count) {
        const PcapLengths l = {load_u32<kSwapped>(record + 8), load_u32<kSwapped>(record + 12)};
        if (l.caplen > longest || l.caplen > l.wire_len ||
            size_t(end - record) - header_bytes < l.caplen) [[unlikely]]
            break;
        show_pcap<kSwapped>(packets[count], settings, record, l);
        if constexpr (kSwapped) {
            if (settings.swap) [[unlikely]]
                swap_bytes(packets[count]);
        }
        wire_bytes += l.wire_len;
        record += header_bytes + l.caplen;
    }
    taken = {record, count, wire_bytes};
}

// Plain records of a piece, for the read-ahead thread.
template <bool kSwapped> class PcapPieces : public PieceFormat
{
public:
    explicit PcapPieces(const PcapSettings &settings) : settings_(settings) {}
    // Bytes swapped in place must not be swapped again when the packet thread parses the same
    // records.
    static bool can_index(const PcapSettings &settings)
    {
        return !settings.is_early && !settings.swap;
    }

    void index(const uint8_t *record, const uint8_t *end, PieceIndex &index) const override
    {
        PcapTaken taken = {record, MAPI_BATCH_MAX};
        for (mapi_packet *packets;
             taken.count == MAPI_BATCH_MAX && (packets = index.next_packets());) {
            taken = {taken.record};
            take_plain_pcap<kSwapped>(settings_, end, packets, MAPI_BATCH_MAX, taken,
                                      [](const mapi_packet &) {});
            if (taken.count > 0)
                index.add(taken.count, taken.wire_bytes, settings_.link_type, taken.record);
        }
    }

    size_t missing_bytes(const uint8_t *record, const uint8_t *end) const override
    {
        const uint32_t longest = std::min(settings_.max_caplen, settings_.snaplen);
        const uint32_t header_bytes = settings_.variant.record_header_bytes;
        while (size_t(end - record) >= header_bytes) {
            const PcapLengths l = pcap_lengths<kSwapped>(settings_, record);
            if (l.caplen > longest || l.caplen > l.wire_len)
                return kUnknown;
            if (size_t(end - record) - header_bytes < l.caplen)
                return header_bytes + l.caplen - size_t(end - record);
            record += header_bytes + l.caplen;
        }
        const size_t left = size_t(end - record);
        if (left < kBytesBeforeWireLength)
            return left == 0 ? 0 : kUnknown;
        const uint32_t caplen = load_u32<kSwapped>(record + 8);
        return caplen > longest ? kUnknown : header_bytes + caplen - left;
    }

private:
    static constexpr size_t kBytesBeforeWireLength = 12;
    const PcapSettings settings_;
};
} // namespace mapi::drivers
