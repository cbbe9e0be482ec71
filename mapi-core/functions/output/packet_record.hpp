// SPDX-License-Identifier: MIT
// Packet record: packet -> its bytes in a pcap or pcapng file; such bytes -> what their writer needs to know.
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
    size_t head_bytes = 0; // of a description that the file needs before this record, once
    size_t bytes = 0;      // of both
    uint64_t time_ns = 0;
};

enum class RecordTaken { kYes, kOtherLink, kNoRoom };

// Device's thread, but for the static members.
class PacketRecords
{
public:
    virtual ~PacketRecords() = default;

    // What a file begins with.
    virtual std::string header(uint16_t link_type, uint32_t snap_bytes) = 0;
    // Appends one with `bytes` of the packet.  After header().
    virtual RecordTaken append(std::string &to, const mapi_packet &packet, uint32_t bytes) = 0;
};

// Classic pcap with nanoseconds, of one link type, up to 2106.
class PcapRecords : public PacketRecords
{
public:
    std::string header(uint16_t link_type, uint32_t snap_bytes) override;
    RecordTaken append(std::string &to, const mapi_packet &packet, uint32_t bytes) override;
    // Of whole records, the first one.
    static RecordView view(std::string_view records);
    static size_t bytes(std::string_view records) { return view(records).bytes; }

private:
    uint16_t link_type_ = 0;
};

// pcapng: one section, with an interface for each that packets came from and each link type.
std::unique_ptr<PacketRecords> make_pcapng_records();
RecordView view_pcapng_record(std::string_view records);
inline size_t pcapng_record_bytes(std::string_view records)
{
    return view_pcapng_record(records).bytes;
}
} // namespace mapi::functions
