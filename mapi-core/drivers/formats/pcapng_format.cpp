// SPDX-License-Identifier: MIT
// pcapng: blocks of a capture file -> packet views.  Several sections and interfaces, both byte
// orders.
#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "drivers/capture_error.hpp"
#include "drivers/formats/capture_format.hpp"
#include "drivers/formats/pcapng_interface.hpp"
#include "links/link_type.hpp"

namespace mapi::drivers
{
namespace
{
constexpr uint32_t kSectionHeader = 0x0a0d0d0a; // the same in both byte orders
constexpr uint32_t kInterfaceDescription = 1;
constexpr uint32_t kObsoletePacket = 2;
constexpr uint32_t kSimplePacket = 3;
constexpr uint32_t kInterfaceStatistics = 5;
constexpr uint32_t kEnhancedPacket = 6;
constexpr uint32_t kByteOrderMagic = 0x1a2b3c4d;

constexpr uint16_t kOptionTsResolution = 9;
constexpr uint16_t kOptionTsOffset = 14;
constexpr uint16_t kOptionDropped = 5; // isb_ifdrop
constexpr uint16_t kOptionOsDropped = 7;
constexpr uint16_t kOptionPacketDropped = 4; // epb_dropcount
constexpr uint16_t kUnknownDropped = 0xffff; // of an obsolete packet block

constexpr uint32_t kOptionHeaderBytes = 4;
constexpr uint32_t kSmallestBlockBytes = 12;
constexpr uint32_t kLargestBlockBytes = (128u << 20) + 4096; // the largest packet and its options

struct Block {
    const uint8_t *start;
    uint32_t type;
    uint32_t bytes;

    const uint8_t *body() const { return start + 8; }
    uint32_t body_bytes() const { return bytes - kSmallestBlockBytes; }
};

class PcapngFormat : public CaptureFormat
{
public:
    explicit PcapngFormat(FileBuffer &file)
    {
        info_.device_flags = MAPI_DEVICE_OFFLINE;
        info_.link_type = MAPI_LINK_UNKNOWN;
        begin_section(file);
        read_descriptions(file);
    }

    uint32_t read(FileBuffer &file, mapi_packet *packets, uint32_t limit,
                  mapi_batch &batch) override
    {
        while (true) {
            const std::optional<uint32_t> count =
                swapped_ ? read_batch<true>(file, packets, limit, batch)
                         : read_batch<false>(file, packets, limit, batch);
            if (count)
                return *count;
            begin_section(file);
        }
    }
    uint64_t interface_drops() const override;
    std::string message() const override;

private:
    enum class Verdict { kGood, kContradiction, kTime };

    // Empty if a new section begins, which may have another byte order.
    template <bool kSwapped>
    std::optional<uint32_t> read_batch(FileBuffer &file, mapi_packet *packets, uint32_t limit,
                                       mapi_batch &batch);
    template <bool kSwapped>
    Verdict packet_from(FileBuffer &file, const Block &block, mapi_packet &packet);
    [[noreturn]] void refuse(const FileBuffer &file, Verdict verdict) const;
    template <bool kSwapped> bool fetch_block(FileBuffer &file) const;
    template <bool kSwapped> void add_interface(const Block &block, const std::string &place);
    template <bool kSwapped> void add_statistics(const FileBuffer &file, const Block &block);
    void begin_section(FileBuffer &file);
    // Reads the descriptions at the front, so that the device knows its link type before the first
    // packet.
    void read_descriptions(FileBuffer &file);
    template <bool kSwapped> void other_block(FileBuffer &file, const Block &block);

    std::vector<CaptureInterface>
        interfaces_; // of the file; those of the current section begin at first_
    size_t first_ = 0;
    uint64_t packets_ = 0; // delivered so far
    OddRecords long_times_;
    OddRecords foreign_statistics_; // of an unknown interface
    uint64_t foreign_drops_ = 0;    // drops in these
    bool swapped_ = false;
};

bool is_packet(uint32_t type)
{
    return type == kEnhancedPacket || type == kSimplePacket || type == kObsoletePacket;
}

template <bool kSwapped> Block block_at(const uint8_t *start)
{
    return {start, load_u32<kSwapped>(start), load_u32<kSwapped>(start + 4)};
}

bool has_possible_size(const Block &block)
{
    return block.bytes >= kSmallestBlockBytes && block.bytes % 4 == 0 &&
           block.bytes <= kLargestBlockBytes;
}

// Calls visit(code, value, bytes) for each option between `at` and `end`; stops at an option that
// does not fit.
template <bool kSwapped, class Visit>
void for_each_option(const uint8_t *at, const uint8_t *end, Visit visit)
{
    while (end - at >= 4) {
        const uint16_t code = load_u16<kSwapped>(at);
        const uint16_t bytes = load_u16<kSwapped>(at + 2);
        at += 4;
        if (code == 0 || end - at < bytes)
            return;
        visit(code, at, bytes);
        const ptrdiff_t padded = (bytes + 3) & ~3;
        at += std::min(padded, end - at);
    }
}

// Adds losses reported with a packet of `caplen` captured bytes.
template <bool kSwapped> void add_losses(const Block &block, uint32_t caplen, LossCount &losses)
{
    if (block.type == kObsoletePacket) {
        const uint16_t dropped = load_u16<kSwapped>(block.body() + 2);
        return losses.add(dropped == kUnknownDropped ? 0 : dropped);
    }
    const uint64_t options = 20 + (uint64_t(caplen) + 3) / 4 * 4;
    if (block.type != kEnhancedPacket || options >= block.body_bytes())
        return;
    for_each_option<kSwapped>(block.body() + options, block.body() + block.body_bytes(),
                              [&](uint16_t code, const uint8_t *value, uint16_t bytes) {
                                  if (code == kOptionPacketDropped && bytes >= 8)
                                      losses.add(load_u64<kSwapped>(value));
                              });
}

template <bool kSwapped>
std::optional<uint32_t> PcapngFormat::read_batch(FileBuffer &file, mapi_packet *packets,
                                                 uint32_t limit, mapi_batch &batch)
{
    uint64_t wire_bytes = 0;
    uint32_t link_types = 0; // bits that differ from the first packet's
    uint32_t count = 0;
    while (count < limit) {
        const size_t left = file.available();
        Block block = {};
        if (left >= 8)
            block = block_at<kSwapped>(file.begin());
        const bool whole = left >= 8 && has_possible_size(block) && left >= block.bytes &&
                           load_u32<kSwapped>(block.start + block.bytes - 4) == block.bytes;
        if (!whole || !is_packet(block.type)) [[unlikely]] {
            if (count > 0 || file.is_held()) // the next call starts here, with an empty batch
                break;
            if (!whole && block.type != kSectionHeader && !fetch_block<kSwapped>(file))
                break;
            if (block_at<kSwapped>(file.begin()).type == kSectionHeader)
                return std::nullopt;
            other_block<kSwapped>(file, block_at<kSwapped>(file.begin()));
            continue;
        }
        mapi_packet &packet = packets[count];
        if (const Verdict verdict = packet_from<kSwapped>(file, block, packet);
            verdict != Verdict::kGood) [[unlikely]] {
            if (count > 0 || file.is_held())
                break;
            refuse(file, verdict);
        }
        wire_bytes += packet.wire_len;
        link_types |= uint32_t(packet.link_type ^ packets[0].link_type);
        ++count;
        ++packets_;
        file.consume_to(block.start + block.bytes);
    }
    const uint16_t link_type =
        count == 0 || link_types != 0 ? uint16_t(MAPI_LINK_MIXED) : packets[0].link_type;
    finish_batch(batch, packets, count, wire_bytes, link_type);
    return count;
}

template <bool kSwapped>
PcapngFormat::Verdict PcapngFormat::packet_from(FileBuffer &file, const Block &block,
                                                mapi_packet &packet)
{
    const uint8_t *body = block.body();
    const uint32_t body_bytes = block.body_bytes();
    const bool is_simple = block.type == kSimplePacket;
    const uint32_t header_bytes = is_simple ? 4 : 20;
    if (body_bytes < header_bytes)
        return Verdict::kContradiction;
    size_t index = 0;
    if (!is_simple)
        index = block.type == kEnhancedPacket ? load_u32<kSwapped>(body) : load_u16<kSwapped>(body);
    if (index >= interfaces_.size() - first_)
        return Verdict::kContradiction;
    CaptureInterface &interface = interfaces_[first_ + index];
    uint64_t ticks = 0;
    if (is_simple) {
        packet.wire_len = load_u32<kSwapped>(body);
        packet.caplen = std::min(packet.wire_len, interface.snaplen);
    } else {
        ticks = uint64_t(load_u32<kSwapped>(body + 4)) << 32 | load_u32<kSwapped>(body + 8);
        packet.caplen = load_u32<kSwapped>(body + 12);
        packet.wire_len = load_u32<kSwapped>(body + 16);
    }
    if (packet.caplen > body_bytes - header_bytes || packet.caplen > interface.max_caplen)
        return Verdict::kContradiction;
    if (!interface.scale.is_short(ticks) && !is_simple) [[unlikely]] {
        if (!interface.scale.has(ticks))
            return Verdict::kTime;
        long_times_.note(file.offset(), packets_ + 1);
    }
    packet.timestamp_ns =
        is_simple ? 0 : interface.scale.to_ns(ticks); // a simple packet block has no timestamp
    if (body_bytes - header_bytes - packet.caplen >= kOptionHeaderBytes ||
        block.type == kObsoletePacket) [[unlikely]]
        add_losses<kSwapped>(block, packet.caplen, interface.losses);
    if (packet.caplen > std::min(packet.wire_len, interface.snaplen)) [[unlikely]]
        odd_lengths_.note(packet.caplen, packet.wire_len, interface.snaplen, file.offset());
    packet.caplen = std::min(packet.caplen, interface.snaplen);
    packet.data = body + header_bytes;
    packet.link_type = interface.link_type;
    packet.ifindex = uint16_t(first_ + index);
    packet.packet_type = 0;
    if constexpr (kSwapped) {
        if (interface.swap) [[unlikely]]
            interface.swap(file.writable(packet.data), packet.caplen);
    }
    return Verdict::kGood;
}

void PcapngFormat::refuse(const FileBuffer &file, Verdict verdict) const
{
    const std::string packet = "packet " + std::to_string(packets_ + 1);
    if (verdict == Verdict::kTime)
        throw CaptureError(
            Damage::kRecord,
            file.where() + ": " + packet +
                " has a timestamp before 1970 or after 2554, out of range of 64-bit nanoseconds; "
                "reading ends before it (`editcap -t` shifts timestamps)");
    throw CaptureError(Damage::kRecord,
                       file.where() + ": the block of " + packet +
                           " is malformed or refers to an interface that was not described; "
                           "the file is damaged here");
}

uint64_t PcapngFormat::interface_drops() const
{
    uint64_t drops = foreign_drops_;
    for (const CaptureInterface &interface : interfaces_)
        drops = sum_of_losses(drops, interface.losses.packets());
    return drops;
}

std::string PcapngFormat::message() const
{
    std::string text = CaptureFormat::message();
    const auto add = [&](const std::string &more) { text += (text.empty() ? "" : "; ") + more; };
    if (long_times_.any())
        add(long_times_.text("packet has", "packets have", " a timestamp after 2106") +
            "; they are counted, but pcap files, TO_BUFFER and times in results cannot hold it");
    if (foreign_statistics_.any())
        add(foreign_statistics_.text("block of statistics names", "blocks of statistics name",
                                     " an interface that was not described") +
            "; its losses are counted");
    return text;
}

// The cold path: the next block is incomplete in the buffer.  False at the end of the file.
template <bool kSwapped> bool PcapngFormat::fetch_block(FileBuffer &file) const
{
    const bool has_header = file.fill(8);
    const std::string place = file.where();
    if (!has_header) {
        if (file.available() == 0)
            return false;
        throw CaptureError(Damage::kTruncated, place + ": the file ends inside a block header");
    }
    Block block = block_at<kSwapped>(file.begin());
    if (block.type == kSectionHeader)
        return true; // the byte order of its length is not known yet
    if (!has_possible_size(block))
        throw CaptureError(Damage::kRecord,
                           place + ": a block claims " + std::to_string(block.bytes) +
                               " bytes, which is impossible; the file is damaged here");
    if (!file.fill(block.bytes))
        throw CaptureError(Damage::kTruncated, place + ": the file ends inside a block, after " +
                                                   std::to_string(file.rest_bytes()) + " of " +
                                                   std::to_string(block.bytes) + " bytes");
    block = block_at<kSwapped>(file.begin());
    const uint32_t trailer = load_u32<kSwapped>(block.start + block.bytes - 4);
    if (trailer != block.bytes)
        throw CaptureError(Damage::kRecord, place + ": a block has two lengths, " +
                                                std::to_string(block.bytes) + " before and " +
                                                std::to_string(trailer) +
                                                " after it; the file is damaged here");
    return true;
}

template <bool kSwapped> void PcapngFormat::other_block(FileBuffer &file, const Block &block)
{
    if (is_packet(block.type))
        return; // it only needed to be fetched
    if (block.type == kInterfaceDescription)
        add_interface<kSwapped>(block, file.where());
    else if (block.type == kInterfaceStatistics)
        add_statistics<kSwapped>(file, block);
    file.consume_to(block.start + block.bytes);
}

template <bool kSwapped>
void PcapngFormat::add_interface(const Block &block, const std::string &place)
{
    if (block.body_bytes() < 8)
        throw CaptureError(Damage::kRecord, place + ": an interface description is too short");
    if (interfaces_.size() > std::numeric_limits<uint16_t>::max())
        throw CaptureError(Damage::kRecord, place + ": more than 65536 interfaces are described");
    CaptureInterface interface = {};
    interface.link_type = uint16_t(links::from_recorded(load_u16<kSwapped>(block.body())));
    interface.swap = kSwapped ? links::swap_of(interface.link_type) : nullptr;
    const uint32_t snaplen = load_u32<kSwapped>(block.body() + 4);
    interface.snaplen = snaplen == 0 ? std::numeric_limits<uint32_t>::max() : snaplen;
    interface.max_caplen = mapi_caplen_max(interface.link_type);
    bool known_resolution = true;
    for_each_option<kSwapped>(block.body() + 8, block.body() + block.body_bytes(),
                              [&](uint16_t code, const uint8_t *value, uint16_t bytes) {
                                  if (code == kOptionTsResolution && bytes >= 1)
                                      known_resolution = interface.scale.set_resolution(value[0]);
                                  if (code == kOptionTsOffset && bytes >= 8)
                                      interface.scale.set_offset(
                                          int64_t(load_u64<kSwapped>(value)));
                              });
    if (!known_resolution)
        throw CaptureError(Damage::kRecord,
                           place + ": an interface has timestamps finer than 2^-63 or 10^-19 s");
    if (interfaces_.empty()) {
        info_.link_type = interface.link_type;
        info_.snaplen = snaplen;
    }
    interfaces_.push_back(interface);
}

template <bool kSwapped>
void PcapngFormat::add_statistics(const FileBuffer &file, const Block &block)
{
    if (block.body_bytes() < 12)
        return;
    const size_t index = load_u32<kSwapped>(block.body());
    const bool is_known = index < interfaces_.size() - first_;
    LossCount::Statistics statistics =
        is_known ? interfaces_[first_ + index].losses.statistics() : LossCount::Statistics{};
    for_each_option<kSwapped>(block.body() + 12, block.body() + block.body_bytes(),
                              [&](uint16_t code, const uint8_t *value, uint16_t bytes) {
                                  if (code == kOptionDropped && bytes >= 8)
                                      statistics.interface = load_u64<kSwapped>(value);
                                  if (code == kOptionOsDropped && bytes >= 8)
                                      statistics.system = load_u64<kSwapped>(value);
                              });
    if (is_known)
        return interfaces_[first_ + index].losses.set(statistics);
    foreign_statistics_.note(file.offset());
    foreign_drops_ =
        sum_of_losses(foreign_drops_, sum_of_losses(statistics.interface, statistics.system));
}

void PcapngFormat::begin_section(FileBuffer &file)
{
    const bool has_header = file.fill(28);
    const std::string place = file.where();
    if (!has_header)
        throw CaptureError(Damage::kTruncated, place + ": the file ends inside a section header");
    const uint8_t *start = file.begin();
    const bool native = load_u32<false>(start + 8) == kByteOrderMagic;
    if (!native && load_u32<true>(start + 8) != kByteOrderMagic)
        throw CaptureError(
            Damage::kRecord,
            place + ": a section header has no byte-order magic; the file is damaged here");
    const uint32_t bytes = native ? load_u32<false>(start + 4) : load_u32<true>(start + 4);
    const uint16_t major = native ? load_u16<false>(start + 12) : load_u16<true>(start + 12);
    if (major != 1)
        throw CaptureError(Damage::kRecord, place + ": pcapng version " + std::to_string(major) +
                                                " is unsupported; only 1 can be read");
    if (bytes < 28 || bytes % 4 != 0 || bytes > kLargestBlockBytes)
        throw CaptureError(Damage::kRecord,
                           place + ": a section header claims " + std::to_string(bytes) + " bytes");
    if (!file.fill(bytes))
        throw CaptureError(Damage::kTruncated, place + ": the file ends inside a section header");
    swapped_ = !native;
    first_ = interfaces_.size();
    file.consume_to(file.begin() + bytes);
}

void PcapngFormat::read_descriptions(FileBuffer &file)
{
    try {
        while (true) {
            if (!(swapped_ ? fetch_block<true>(file) : fetch_block<false>(file)))
                return;
            const Block block =
                swapped_ ? block_at<true>(file.begin()) : block_at<false>(file.begin());
            if (is_packet(block.type) || block.type == kSectionHeader)
                return;
            swapped_ ? other_block<true>(file, block) : other_block<false>(file, block);
        }
    } catch (const CaptureError &) {
        // The first read() meets the same damage, reports and counts it.
    }
}
} // namespace

std::unique_ptr<CaptureFormat> open_pcapng(FileBuffer &file)
{
    if (file.available() < 4 || load_u32<false>(file.begin()) != kSectionHeader)
        return nullptr;
    return std::make_unique<PcapngFormat>(file);
}
} // namespace mapi::drivers
