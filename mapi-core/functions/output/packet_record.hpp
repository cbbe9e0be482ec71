// SPDX-License-Identifier: MIT
// Packet record: packet -> its bytes in a pcap or pcapng file; such bytes -> what their writer
// needs to know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <mapi/packet.h>

namespace mapi::functions
{
struct RecordView {
    size_t head_bytes = 0; // of a description that the file needs once, before this record
    size_t bytes = 0;      // of both
    uint64_t time_ns = 0;
};

enum class RecordTaken { kYes, kOtherLink, kNoRoom };

// Device's thread, except for the static members.
class PacketRecords
{
public:
    virtual ~PacketRecords() = default;

    // The file header.
    virtual std::string header(uint16_t link_type, uint32_t snap_bytes) = 0;
    // Appends a record with `bytes` bytes of the packet.  Call after header().
    virtual RecordTaken append(std::string &to, const mapi_packet &packet, uint32_t bytes) = 0;
};

// Classic pcap with nanoseconds, one link type, times up to 2106.
class PcapRecords : public PacketRecords
{
public:
    std::string header(uint16_t link_type, uint32_t snap_bytes) override;
    RecordTaken append(std::string &to, const mapi_packet &packet, uint32_t bytes) override;
    // Describes the first of these complete records.
    static RecordView view(std::string_view records);
    static size_t bytes(std::string_view records) { return view(records).bytes; }

private:
    uint16_t link_type_ = 0;
};

// pcapng: one section, with one interface description per source interface and link type.
std::unique_ptr<PacketRecords> make_pcapng_records();
RecordView view_pcapng_record(std::string_view records);
inline size_t pcapng_record_bytes(std::string_view records)
{
    return view_pcapng_record(records).bytes;
}
} // namespace mapi::functions
