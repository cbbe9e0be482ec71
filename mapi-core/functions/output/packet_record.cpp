// SPDX-License-Identifier: MIT
// Packet record: pcap and pcapng (draft-ietf-opsawg-pcap, draft-ietf-opsawg-pcapng).
#include "functions/output/packet_record.hpp"

#include <algorithm>
#include <cstring>
#include <unordered_map>

namespace mapi::functions
{
namespace
{
constexpr uint64_t kNsPerSecond = 1000000000;

struct PcapHeader {
    uint32_t magic = 0xa1b23c4d; // nanoseconds
    uint16_t major = 2;
    uint16_t minor = 4;
    uint32_t reserved[2] = {};
    uint32_t snaplen = 0;
    uint32_t link_type = 0;
};
static_assert(sizeof(PcapHeader) == 24);

struct PcapRecord {
    uint32_t seconds;
    uint32_t nanoseconds;
    uint32_t caplen;
    uint32_t wire_len;
};

struct SectionHeader {
    uint32_t type = 0x0a0d0d0a;
    uint32_t bytes = 28;
    uint32_t magic = 0x1a2b3c4d;
    uint16_t major = 1;
    uint16_t minor = 0;
    uint32_t section_bytes[2] = {UINT32_MAX, UINT32_MAX}; // unknown
    uint32_t bytes_again = 28;
};
static_assert(sizeof(SectionHeader) == 28);

constexpr uint32_t kInterfaceBlock = 1, kPacketBlock = 6;

struct InterfaceBlock {
    uint32_t type = kInterfaceBlock;
    uint32_t bytes = 32;
    uint16_t link_type = 0;
    uint16_t reserved = 0;
    uint32_t snaplen = 0;
    uint16_t resolution_code = 9; // if_tsresol
    uint16_t resolution_bytes = 1;
    uint8_t resolution[4] = {9}; // nanoseconds, and padding
    uint32_t end_of_options = 0;
    uint32_t bytes_again = 32;
};
static_assert(sizeof(InterfaceBlock) == 32);

struct PacketBlock {
    uint32_t type;
    uint32_t bytes;
    uint32_t interface;
    uint32_t time_high;
    uint32_t time_low;
    uint32_t caplen;
    uint32_t wire_len;
};

template <class Struct> void append_struct(std::string &to, const Struct &from)
{
    to.append(reinterpret_cast<const char *>(&from), sizeof(from));
}

template <class Struct> Struct read_struct(std::string_view from)
{
    Struct to;
    memcpy(&to, from.data(), sizeof(to));
    return to;
}

void append_data(std::string &to, const mapi_packet &packet, uint32_t bytes)
{
    to.append(reinterpret_cast<const char *>(packet.data), bytes);
}

class PcapngRecords : public PacketRecords
{
public:
    std::string header(uint16_t, uint32_t snap_bytes) override
    {
        std::string bytes;
        append_struct(bytes, SectionHeader{});
        snap_bytes_ = snap_bytes;
        return bytes;
    }

    RecordTaken append(std::string &to, const mapi_packet &packet, uint32_t bytes) override
    {
        const uint32_t key = uint32_t(packet.link_type) << 16 | packet.ifindex;
        if (key != last_key_ || interfaces_.empty()) [[unlikely]] {
            if (!find_interface(to, key, packet.link_type))
                return RecordTaken::kOtherLink;
        }
        const uint32_t padding = (4 - bytes % 4) % 4;
        const auto block_bytes = uint32_t(sizeof(PacketBlock) + bytes + padding + sizeof(uint32_t));
        append_struct(to, PacketBlock{kPacketBlock, block_bytes, last_interface_,
                                      uint32_t(packet.timestamp_ns >> 32),
                                      uint32_t(packet.timestamp_ns), bytes, packet.wire_len});
        append_data(to, packet, bytes);
        to.append(padding, '\0');
        append_struct(to, block_bytes);
        return RecordTaken::kYes;
    }

private:
    static constexpr size_t kInterfacesMax = 65536;

    // Describes a new interface before its first packet.  Returns false if there are too many.
    bool find_interface(std::string &to, uint32_t key, uint16_t link_type)
    {
        const auto found = interfaces_.find(key);
        if (found == interfaces_.end() && interfaces_.size() == kInterfacesMax)
            return false;
        last_key_ = key;
        last_interface_ = found == interfaces_.end() ? uint32_t(interfaces_.size()) : found->second;
        if (found != interfaces_.end())
            return true;
        interfaces_[key] = last_interface_;
        InterfaceBlock block;
        block.link_type = link_type;
        block.snaplen = std::min(mapi_caplen_max(link_type), snap_bytes_);
        append_struct(to, block);
        return true;
    }

    std::unordered_map<uint32_t, uint32_t>
        interfaces_; // link type and the device's number -> the file's number
    uint32_t last_key_ = 0;
    uint32_t last_interface_ = 0;
    uint32_t snap_bytes_ = 0;
};
} // namespace

std::string PcapRecords::header(uint16_t link_type, uint32_t snap_bytes)
{
    PcapHeader header;
    std::string bytes;
    header.link_type = link_type_ = link_type;
    header.snaplen = std::min(mapi_caplen_max(link_type), snap_bytes);
    append_struct(bytes, header);
    return bytes;
}

RecordTaken PcapRecords::append(std::string &to, const mapi_packet &packet, uint32_t bytes)
{
    if (packet.link_type != link_type_)
        return RecordTaken::kOtherLink;
    if (packet.timestamp_ns / kNsPerSecond > UINT32_MAX)
        return RecordTaken::kNoRoom;
    append_struct(to,
                  PcapRecord{uint32_t(packet.timestamp_ns / kNsPerSecond),
                             uint32_t(packet.timestamp_ns % kNsPerSecond), bytes, packet.wire_len});
    append_data(to, packet, bytes);
    return RecordTaken::kYes;
}

RecordView PcapRecords::view(std::string_view records)
{
    const auto record = read_struct<PcapRecord>(records);
    return {0, sizeof(record) + record.caplen, record.seconds * kNsPerSecond + record.nanoseconds};
}

std::unique_ptr<PacketRecords> make_pcapng_records()
{
    return std::make_unique<PcapngRecords>();
}

RecordView view_pcapng_record(std::string_view records)
{
    const size_t head =
        read_struct<uint32_t>(records) == kInterfaceBlock ? sizeof(InterfaceBlock) : 0;
    const auto block = read_struct<PacketBlock>(records.substr(head));
    return {head, head + block.bytes, uint64_t(block.time_high) << 32 | block.time_low};
}
} // namespace mapi::functions
