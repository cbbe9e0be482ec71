// SPDX-License-Identifier: MIT
// ERF: the records of a DAG card -> packet views.  Ethernet, HDLC and IP; other records are counted
// and skipped.
#include <algorithm>
#include <limits>

#include "drivers/capture_error.hpp"
#include "drivers/formats/capture_format.hpp"
#include "drivers/formats/dag_legacy.hpp"
#include "drivers/formats/odd_records.hpp"
#include "links/erf_record.hpp"
#include "links/link_type.hpp"

namespace mapi::drivers
{
namespace
{
using links::ErfContent;
using links::ErfRecord;
using links::ErfType;
constexpr uint32_t kHeaderBytes = ErfRecord::kHeaderBytes;

// ERF has no magic number.  Several valid records are taken for proof, as in Wireshark; more are
// examined to exclude DAG's older formats, whose records may look like ERF by chance.
constexpr size_t kRecordsToCheck = 3, kRecordsLookedAt = 64;
constexpr char kRemedy[] = " (`capinfos FILE` identifies most capture formats)";

// Cisco's frames never begin with PPP's address and control bytes.
uint16_t link_type_of(const ErfType &type, const uint8_t *frame, uint32_t caplen)
{
    if (type.content != ErfContent::kHdlc)
        return type.link_type;
    return caplen >= 2 && frame[0] == 0xff && frame[1] == 0x03 ? links::kPppHdlc
                                                               : links::kCiscoHdlc;
}

class ErfFormat : public CaptureFormat
{
public:
    explicit ErfFormat(uint16_t link_type)
    {
        info_.device_flags = MAPI_DEVICE_OFFLINE;
        info_.snaplen = std::numeric_limits<uint16_t>::max(); // a record's length has 16 bits
        info_.link_type = link_type;
    }

    uint32_t read(FileBuffer &file, mapi_packet *packets, uint32_t limit,
                  mapi_batch &batch) override;
    uint64_t interface_drops() const override { return losses_; }
    std::string message() const override;

private:
    // The cold path: the next record is incomplete in the buffer or malformed.  False at the end of
    // the file.
    bool fetch_record(FileBuffer &file) const;

    uint64_t losses_ = 0;
    OddRecords foreign_;
    OddRecords spoilt_;
};

uint32_t ErfFormat::read(FileBuffer &file, mapi_packet *packets, uint32_t limit, mapi_batch &batch)
{
    const uint8_t *start = file.begin();
    const uint8_t *end = file.end();
    uint64_t wire_bytes = 0;
    uint32_t link_types = 0; // bits that differ from the first packet's
    uint32_t count = 0;
    while (count < limit) {
        const ErfRecord record(start);
        const size_t left = size_t(end - start);
        const uint32_t bytes = left >= kHeaderBytes ? record.bytes() : 0;
        const bool is_whole = bytes >= kHeaderBytes && left >= bytes;
        const ErfType type = is_whole ? record.type() : ErfType{};
        const uint32_t offset = is_whole ? record.frame_offset() : 0;
        if (type.content == ErfContent::kUnknown || offset > bytes) [[unlikely]] {
            file.consume_to(start);
            if (count > 0 || file.is_held() || !fetch_record(file))
                break;
            start = file.begin();
            end = file.end();
            continue;
        }
        const uint8_t *const here = start;
        start += bytes;
        if (record.losses() > 0) [[unlikely]]
            losses_ += record.losses();
        if (type.content < ErfContent::kFrame) [[unlikely]] {
            if (type.content == ErfContent::kForeign)
                foreign_.note(file.offset() + uint64_t(here - file.begin()));
            continue;
        }
        if (record.has_error()) [[unlikely]]
            spoilt_.note(file.offset() + uint64_t(here - file.begin()));
        mapi_packet &packet = packets[count++];
        packet.data = record.frame();
        packet.wire_len = record.wire_len();
        packet.caplen = std::min(bytes - offset, packet.wire_len); // records are padded
        packet.timestamp_ns = record.timestamp_ns();
        packet.link_type = link_type_of(type, packet.data, packet.caplen);
        packet.ifindex = record.interface();
        packet.packet_type = 0;
        wire_bytes += packet.wire_len;
        link_types |= uint32_t(packet.link_type ^ packets[0].link_type);
    }
    file.consume_to(start);
    const uint16_t link_type =
        count == 0 || link_types != 0 ? uint16_t(MAPI_LINK_MIXED) : packets[0].link_type;
    finish_batch(batch, packets, count, wire_bytes, link_type);
    return count;
}

bool ErfFormat::fetch_record(FileBuffer &file) const
{
    const bool has_header = file.fill(kHeaderBytes);
    const std::string place = file.where();
    if (!has_header) {
        if (file.available() == 0)
            return false;
        throw CaptureError(Damage::kTruncated, place + ": the file ends inside a record header");
    }
    std::string contradiction = ErfRecord(file.begin()).header_contradiction();
    if (contradiction.empty()) {
        const uint32_t bytes = ErfRecord(file.begin()).bytes();
        if (!file.fill(bytes))
            throw CaptureError(Damage::kTruncated, place +
                                                       ": the file ends inside a record, after " +
                                                       std::to_string(file.available()) + " of " +
                                                       std::to_string(bytes) + " bytes");
        contradiction = ErfRecord(file.begin()).contradiction();
    }
    if (!contradiction.empty())
        throw CaptureError(Damage::kRecord,
                           place + ": " + contradiction + "; the file is damaged here");
    return true;
}

std::string ErfFormat::message() const
{
    std::string text;
    if (foreign_.any())
        text = foreign_.text("packet is", "packets are", " neither Ethernet, HDLC nor IP") +
               "; they are skipped";
    if (spoilt_.any())
        text += (text.empty() ? "" : "; ") +
                spoilt_.text("packet is", "packets are",
                             " marked by the card as truncated or damaged") +
                "; they are counted";
    return text;
}

// Sets `problem` to the reason why this is not an ERF record; empty if it may be one.  False if the
// record is truncated.
bool look_at_record(FileBuffer &file, size_t at, uint32_t seconds_before, std::string &problem)
{
    if (!file.fill(at + kHeaderBytes))
        return false;
    const ErfRecord record(file.begin() + at);
    const uint32_t seconds = record.seconds();
    problem = record.header_contradiction();
    if (problem.empty() && links::is_far_from(seconds_before, seconds) &&
        record.type_number() != ErfRecord::kPadding) // padding may have no time
        problem = "a record earlier than the previous one, or more than a year later";
    if (!problem.empty())
        return true;
    if (!file.fill(at + record.bytes()))
        return false;
    problem = ErfRecord(file.begin() + at).contradiction(); // fill() may have moved it
    return true;
}

struct FirstRecords {
    size_t count = 0;    // of valid ERF records
    size_t bytes = 0;    // their total size
    std::string problem; // of the next record; empty if there is none, or enough were examined
    uint16_t link_type = MAPI_LINK_UNKNOWN; // of the first packet
    bool is_cut = false;                    // the file ends inside the next one

    ErfLook look() const
    {
        if (count == 0)
            return ErfLook::kNone;
        return is_cut || !problem.empty() ? ErfLook::kInPart : ErfLook::kThrough;
    }
};

// Whether to examine the next record: those needed for proof, and more if they are already in the
// buffer.
bool has_more_to_look_at(FileBuffer &file, const FirstRecords &first)
{
    if (first.count < kRecordsToCheck)
        return file.fill(first.bytes + 1);
    const size_t rest = file.available() - first.bytes;
    return first.count < kRecordsLookedAt && rest >= kHeaderBytes &&
           ErfRecord(file.begin() + first.bytes).bytes() <= rest;
}

FirstRecords look_at_first_records(FileBuffer &file)
{
    FirstRecords first;
    uint32_t seconds = 0;
    while (has_more_to_look_at(file, first)) {
        if (!look_at_record(file, first.bytes, seconds, first.problem)) {
            first.is_cut = true;
            break;
        }
        if (!first.problem.empty())
            break;
        const ErfRecord record(file.begin() + first.bytes);
        if (record.type_number() != ErfRecord::kPadding)
            seconds = record.seconds();
        if (first.link_type == MAPI_LINK_UNKNOWN && record.type().content >= ErfContent::kFrame)
            first.link_type =
                link_type_of(record.type(), record.frame(), record.bytes() - record.frame_offset());
        first.bytes += record.bytes();
        ++first.count;
    }
    return first;
}

// The link type of the first packet; unknown if it is not among the examined records.
uint16_t check_first_records(FileBuffer &file)
{
    const FirstRecords first = look_at_first_records(file);
    refuse_dag_legacy(file, first.look(), "not ERF");
    if (first.count == 0 && first.is_cut)
        throw CaptureError(Damage::kOpen, file.path() +
                                              ": is not ERF, or is truncated in its first record" +
                                              kRemedy);
    if (first.count < kRecordsToCheck && !first.problem.empty())
        throw CaptureError(Damage::kOpen, file.path() + ": is not ERF: as ERF it would contain " +
                                              first.problem + ", at offset " +
                                              std::to_string(first.bytes) + kRemedy);
    return first.link_type;
}
} // namespace

std::unique_ptr<CaptureFormat> open_erf(FileBuffer &file)
{
    file.fill(24);
    if (file.available() == 0)
        throw CaptureError(Damage::kOpen, file.path() + ": is empty");
    if (open_pcap(file) || open_pcapng(file))
        throw CaptureError(Damage::kOpen,
                           file.path() + ": is a pcap or pcapng file, not ERF (omit --erf, or use "
                                         "format MFF_PCAP or driver=pcap_file)");
    return std::make_unique<ErfFormat>(check_first_records(file));
}
} // namespace mapi::drivers
