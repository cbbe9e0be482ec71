// SPDX-License-Identifier: MIT
// pcap: classic capture file -> packet views.  Both byte orders, micro- and nanoseconds, and the
// two old variants.
#include <algorithm>

#include "drivers/capture_error.hpp"
#include "drivers/formats/capture_format.hpp"
#include "drivers/formats/pcap_records.hpp"
#include "links/host_order.hpp"
#include "links/link_type.hpp"

namespace mapi::drivers
{
namespace
{
constexpr size_t kFileHeaderBytes = 24;

constexpr PcapVariant kVariants[] = {
    {0xa1b2c3d4, 16, 1000}, // microseconds
    {0xa1b23c4d, 16, 1},    // nanoseconds
    {0xa1b2cd34, 24, 1000}, // Kuznetsov's: eight more bytes per record
    {0xa12b3c4d, 16, 1000}, // Navtel's
};

template <bool kSwapped> class PcapFormat : public CaptureFormat
{
public:
    explicit PcapFormat(const PcapSettings &settings) : settings_(settings)
    {
        info_.device_flags = MAPI_DEVICE_OFFLINE;
        info_.snaplen = settings.snaplen;
        info_.link_type = settings.link_type;
    }

    uint32_t read(FileBuffer &file, mapi_packet *packets, uint32_t limit,
                  mapi_batch &batch) override;

private:
    // Takes the next record, even an odd one.  False if it is incomplete, or there is none.
    bool take_any(FileBuffer &file, mapi_packet *packets, PcapTaken &taken);
    // For a record that is incomplete in the buffer.  False at the end of the file.
    bool fetch_record(FileBuffer &file) const;

    const PcapSettings settings_;
};

template <bool kSwapped>
uint32_t PcapFormat<kSwapped>::read(FileBuffer &file, mapi_packet *packets, uint32_t limit,
                                    mapi_batch &batch)
{
    PcapTaken taken = {file.begin()};
    do {
        if (taken.count == 0 && file.is_at_index() && limit >= MAPI_BATCH_MAX)
            return file.take_indexed(batch);
        if (taken.count == 0 && file.is_at_index())
            file.leave_index();
        take_plain_pcap<kSwapped>(settings_, file.end(), packets, limit, taken,
                                  [&](mapi_packet &packet) {
                                      settings_.swap(file.writable(packet.data), packet.caplen);
                                  });
    } while (taken.count < limit && take_any(file, packets, taken));
    file.consume_to(taken.record);
    finish_batch(batch, packets, taken.count, taken.wire_bytes, settings_.link_type);
    return taken.count;
}

template <bool kSwapped>
bool PcapFormat<kSwapped>::take_any(FileBuffer &file, mapi_packet *packets, PcapTaken &taken)
{
    const uint32_t header_bytes = settings_.variant.record_header_bytes;
    const size_t left = size_t(file.end() - taken.record);
    const PcapLengths l =
        left >= header_bytes ? pcap_lengths<kSwapped>(settings_, taken.record) : PcapLengths{};
    if (left < header_bytes || l.caplen > settings_.max_caplen || left - header_bytes < l.caplen) {
        file.consume_to(taken.record);
        if (taken.count > 0 || file.is_held() || !fetch_record(file))
            return false;
        taken.record = file.begin();
        return true;
    }
    if (l.caplen > std::min(l.wire_len, settings_.snaplen))
        odd_lengths_.note(l.caplen, l.wire_len, settings_.snaplen,
                          file.offset() + uint64_t(taken.record - file.begin()));
    mapi_packet &packet = packets[taken.count];
    show_pcap<kSwapped>(packet, settings_, taken.record,
                        {std::min(l.caplen, settings_.snaplen), l.wire_len});
    if constexpr (kSwapped) {
        if (settings_.swap)
            settings_.swap(file.writable(packet.data), packet.caplen);
    }
    ++taken.count;
    taken.wire_bytes += l.wire_len;
    taken.record += header_bytes + l.caplen;
    return true;
}

template <bool kSwapped> bool PcapFormat<kSwapped>::fetch_record(FileBuffer &file) const
{
    const uint32_t header_bytes = settings_.variant.record_header_bytes;
    const bool has_header = file.fill(header_bytes);
    if (file.is_at_index())
        return true;
    const std::string place = file.where();
    if (!has_header) {
        if (file.available() == 0)
            return false;
        throw CaptureError(Damage::kTruncated, place + ": the file ends inside a record header");
    }
    const uint32_t caplen = pcap_lengths<kSwapped>(settings_, file.begin()).caplen;
    if (caplen > settings_.max_caplen)
        throw CaptureError(Damage::kRecord,
                           place + ": a record claims " + std::to_string(caplen) +
                               " captured bytes, more than the " +
                               std::to_string(settings_.max_caplen) +
                               " that its link type allows; the file is damaged here");
    if (!file.fill(size_t(header_bytes) + caplen))
        throw CaptureError(
            Damage::kTruncated,
            place + ": the file ends inside a record, after " +
                std::to_string(std::max<uint64_t>(file.rest_bytes(), header_bytes) - header_bytes) +
                " of " + std::to_string(caplen) + " captured bytes");
    file.index_from_here();
    return true;
}

template <bool kSwapped>
std::unique_ptr<CaptureFormat> make(const uint8_t *header, const PcapVariant &variant,
                                    FileBuffer &file)
{
    const std::string &path = file.path();
    const uint16_t major = load_u16<kSwapped>(header + 4);
    const uint16_t minor = load_u16<kSwapped>(header + 6);
    if ((major < 2 || (major > 2 && !(major == 543 && minor == 0))))
        throw CaptureError(Damage::kOpen, path + ": pcap version " + std::to_string(major) + "." +
                                              std::to_string(minor) +
                                              " is unsupported; only 2.x can be read");
    PcapSettings s = {};
    s.variant = variant;
    s.lengths_are_swapped = major == 543 || minor < 3;
    s.is_early = s.lengths_are_swapped || minor == 3;
    // The upper bits describe frame check sequences, which the records keep as data.
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
    if (PcapPieces<kSwapped>::can_index(s))
        file.use_format(std::make_shared<PcapPieces<kSwapped>>(s));
    return std::make_unique<PcapFormat<kSwapped>>(s);
}
} // namespace

std::unique_ptr<CaptureFormat> open_pcap(FileBuffer &file)
{
    if (file.available() < 4)
        return nullptr;
    const uint8_t *header = file.begin();
    for (const PcapVariant &variant : kVariants) {
        const bool native = load_u32<false>(header) == variant.magic;
        if (!native && load_u32<true>(header) != variant.magic)
            continue;
        if (file.available() < kFileHeaderBytes)
            throw CaptureError(Damage::kOpen,
                               file.path() + ": the file ends inside its header, after " +
                                   std::to_string(file.available()) + " of 24 bytes");
        auto format =
            native ? make<false>(header, variant, file) : make<true>(header, variant, file);
        file.consume_to(header + kFileHeaderBytes);
        return format;
    }
    return nullptr;
}
} // namespace mapi::drivers
