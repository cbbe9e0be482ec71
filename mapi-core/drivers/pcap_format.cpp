// SPDX-License-Identifier: MIT
// pcap: classic capture file -> packet views.  Both byte orders, micro- and nanoseconds, and the two old variants.
#include <algorithm>

#include "drivers/capture_error.hpp"
#include "drivers/capture_format.hpp"
#include "links/host_order.hpp"
#include "links/link_type.hpp"

namespace mapi::drivers
{
namespace
{
constexpr size_t kFileHeaderBytes = 24;

struct Variant {
    uint32_t magic;
    uint32_t record_header_bytes;
    uint32_t ns_per_fraction;
};

constexpr Variant kVariants[] = {
    {0xa1b2c3d4, 16, 1000}, // microseconds
    {0xa1b23c4d, 16, 1},    // nanoseconds
    {0xa1b2cd34, 24, 1000}, // Kuznetsov's: eight more bytes a record
    {0xa12b3c4d, 16, 1000}, // Navtel's
};

struct Settings {
    Variant variant;
    bool is_early;            // writers of format 2.3 may have put the wire length first,
    bool lengths_are_swapped; // those before it did
    uint32_t max_caplen;
    uint32_t snaplen;
    uint16_t link_type;
    links::Swap swap; // of pseudo headers, in a file of the other byte order; null: its packets have none to turn round
};

template <bool kSwapped> class PcapFormat : public CaptureFormat
{
public:
    explicit PcapFormat(const Settings &settings) : settings_(settings)
    {
        info_.device_flags = MAPI_DEVICE_OFFLINE;
        info_.snaplen = settings.snaplen;
        info_.link_type = settings.link_type;
    }

    uint32_t read(FileBuffer &file, mapi_packet *packets, uint32_t limit,
                  mapi_batch &batch) override;

private:
    struct Lengths {
        uint32_t caplen;
        uint32_t wire_len;
    };

    static Lengths lengths(const Settings &settings, const uint8_t *record)
    {
        Lengths l = {load_u32<kSwapped>(record + 8), load_u32<kSwapped>(record + 12)};
        if (settings.is_early && (settings.lengths_are_swapped || l.caplen > l.wire_len)) [[unlikely]]
            std::swap(l.caplen, l.wire_len);
        return l;
    }

    // The cold half: the next record is not whole in the buffer.  False at the end of the file.
    bool fetch_record(FileBuffer &file) const;

    Settings settings_;
};

template <bool kSwapped>
uint32_t PcapFormat<kSwapped>::read(FileBuffer &file, mapi_packet *packets, uint32_t limit,
                                    mapi_batch &batch)
{
    const Settings settings = settings_; // its own copy: a store into a packet view might change a member
    const uint32_t header_bytes = settings.variant.record_header_bytes;
    const uint8_t *record = file.begin();
    const uint8_t *end = file.end();
    uint64_t wire_bytes = 0;
    uint32_t count = 0;
    while (count < limit) {
        Lengths l = {};
        const size_t left = size_t(end - record);
        if (left >= header_bytes)
            l = lengths(settings, record);
        if (left < header_bytes || l.caplen > settings.max_caplen || left - header_bytes < l.caplen)
            [[unlikely]] {
            file.consume_to(record);
            if (count > 0 || file.is_held() || !fetch_record(file))
                break;
            record = file.begin();
            end = file.end();
            continue;
        }
        const uint32_t longest = std::min(l.wire_len, settings.snaplen);
        if (l.caplen > longest) [[unlikely]]
            odd_lengths_.note(l.caplen, l.wire_len, settings.snaplen, file.offset() + uint64_t(record - file.begin()));
        mapi_packet &packet = packets[count++];
        packet.data = record + header_bytes;
        __builtin_prefetch(record + 64); // the rest of its headers: what ReadAhead's thread has read is in the other processor's cache
        packet.caplen = std::min(l.caplen, settings.snaplen);
        packet.wire_len = l.wire_len;
        packet.timestamp_ns = uint64_t(load_u32<kSwapped>(record)) * 1000000000u +
                              uint64_t(load_u32<kSwapped>(record + 4)) *
                                  settings.variant.ns_per_fraction;
        packet.link_type = settings.link_type;
        packet.ifindex = 0;
        packet.packet_type = 0;
        if constexpr (kSwapped) {
            if (settings.swap) [[unlikely]]
                settings.swap(file.writable(packet.data), packet.caplen);
        }
        wire_bytes += l.wire_len;
        record += header_bytes + l.caplen;
    }
    file.consume_to(record);
    finish_batch(batch, packets, count, wire_bytes, settings.link_type);
    return count;
}

template <bool kSwapped> bool PcapFormat<kSwapped>::fetch_record(FileBuffer &file) const
{
    const uint32_t header_bytes = settings_.variant.record_header_bytes;
    const bool has_header = file.fill(header_bytes);
    const std::string place = file.where();
    if (!has_header) {
        if (file.available() == 0)
            return false;
        throw CaptureError(Damage::kTruncated, place + ": the file ends inside a record header");
    }
    const uint32_t caplen = lengths(settings_, file.begin()).caplen;
    if (caplen > settings_.max_caplen)
        throw CaptureError(Damage::kRecord, place + ": a record claims " + std::to_string(caplen) +
                                                " captured bytes, more than the " +
                                                std::to_string(settings_.max_caplen) +
                                                " that its link type allows; the file is damaged here");
    if (!file.fill(size_t(header_bytes) + caplen))
        throw CaptureError(Damage::kTruncated,
                           place + ": the file ends inside a record: " +
                               std::to_string(std::max<uint64_t>(file.rest_bytes(), header_bytes) - header_bytes) + " of " +
                               std::to_string(caplen) + " captured bytes are there");
    return true;
}

template <bool kSwapped>
std::unique_ptr<CaptureFormat> make(const uint8_t *header, const Variant &variant,
                                    const std::string &path)
{
    const uint16_t major = load_u16<kSwapped>(header + 4);
    const uint16_t minor = load_u16<kSwapped>(header + 6);
    if ((major < 2 || (major > 2 && !(major == 543 && minor == 0))))
        throw CaptureError(Damage::kOpen, path + ": pcap version " + std::to_string(major) + "." +
                                              std::to_string(minor) + " is not known; 2.x is");
    Settings s = {};
    s.variant = variant;
    s.lengths_are_swapped = major == 543 || minor < 3;
    s.is_early = s.lengths_are_swapped || minor == 3;
    // The upper bits tell about frame check sequences, which the records keep as data.
    const uint32_t link_type = links::from_recorded(load_u32<kSwapped>(header + 20) & 0x03ffffff);
    if (link_type >= MAPI_LINK_UNKNOWN)
        throw CaptureError(Damage::kOpen, path + ": link type " + std::to_string(link_type) +
                                              " is not a LINKTYPE_ number");
    s.link_type = uint16_t(link_type);
    s.swap = kSwapped ? links::swap_of(s.link_type) : nullptr;
    s.max_caplen = mapi_caplen_max(link_type);
    s.snaplen = load_u32<kSwapped>(header + 16);
    if (s.snaplen == 0 || s.snaplen > INT32_MAX)
        s.snaplen = s.max_caplen;
    return std::make_unique<PcapFormat<kSwapped>>(s);
}
} // namespace

std::unique_ptr<CaptureFormat> open_pcap(FileBuffer &file)
{
    if (file.available() < 4)
        return nullptr;
    const uint8_t *header = file.begin();
    for (const Variant &variant : kVariants) {
        const bool native = load_u32<false>(header) == variant.magic;
        if (!native && load_u32<true>(header) != variant.magic)
            continue;
        if (file.available() < kFileHeaderBytes)
            throw CaptureError(Damage::kOpen, file.path() + ": ends inside the file header, after " +
                                                  std::to_string(file.available()) + " of 24 bytes");
        auto format = native ? make<false>(header, variant, file.path())
                             : make<true>(header, variant, file.path());
        file.consume_to(header + kFileHeaderBytes);
        return format;
    }
    return nullptr;
}
} // namespace mapi::drivers
