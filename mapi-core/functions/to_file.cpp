// SPDX-License-Identifier: MIT
// TO_FILE: packet -> pcap file with nanoseconds (draft-ietf-opsawg-pcap).  Lets every packet pass.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>

#include <mapi/mapi.h>

#include "functions/catalog.hpp"
#include "functions/instance.hpp"
#include "functions/record_writer.hpp"

namespace mapi::functions
{
namespace
{
enum Argument { kFormat, kPath, kCount };
constexpr uint64_t kNsPerSecond = 1000000000;
constexpr uint16_t kEthernet = 1;

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

template <class Struct> void append(std::string &to, const Struct &from)
{
    to.append(reinterpret_cast<const char *>(&from), sizeof(from));
}

size_t record_bytes(std::string_view records)
{
    PcapRecord record;
    memcpy(&record, records.data(), sizeof(record));
    return sizeof(record) + record.caplen;
}

class PacketFile
{
public:
    PacketFile(const mapi_function_setup *setup, uint64_t most)
        : result_(allocate_result<uint64_t>(setup, sizeof(uint32_t))), most_(most), snap_bytes_(snap_bytes(setup)), link_type_(setup->link_type),
          writer_(int(setup->arguments[kPath].number), is_offline(setup), [this] { mapi_result_set(result_, MAPI_FILE_DONE); }, record_bytes)
    {
        mapi_result_set(result_, MAPI_FILE_RUNNING);
    }

    void run(const mapi_batch &batch, uint64_t mask)
    {
        uint64_t records = 0;
        if (is_full())
            return;
        for (uint64_t rest = mask; rest != 0 && !is_full(); rest &= rest - 1) {
            records += take(batch.packets[std::countr_zero(rest)]);
            if (bytes_.size() >= RecordWriter::kHandedBytes)
                writer_.add(bytes_, std::exchange(records, 0));
        }
        writer_.add(bytes_, records);
        if (is_full())
            writer_.finish(bytes_, 0);
    }

    void end()
    {
        if (!has_header_)
            begin(link_type_ < MAPI_LINK_UNKNOWN ? link_type_ : uint16_t(kEthernet));
        writer_.finish(bytes_, 0);
    }

    RecordWriter &writer() { return writer_; }

    void drops(mapi_function_drops *drops) const
    {
        writer_.add_drops(drops);
        drops->not_written += unwritable_.load(std::memory_order_relaxed);
        drops->link_type = of_other_links_.load(std::memory_order_relaxed);
    }

private:
    bool is_full() const { return most_ != 0 && taken_ == most_; }

    // Packets: a file has one link type, the first one's.
    uint64_t take(const mapi_packet &packet)
    {
        if (!has_header_)
            begin(packet.link_type);
        if (packet.link_type != link_type_) {
            of_other_links_.fetch_add(1, std::memory_order_relaxed);
            return 0;
        }
        const uint32_t bytes = std::min(packet.caplen, snap_bytes_);
        if (packet.timestamp_ns / kNsPerSecond > UINT32_MAX || sizeof(PcapRecord) + bytes > RecordWriter::kRecordBytesMax) { // has no room in the file, or here
            unwritable_.fetch_add(1, std::memory_order_relaxed);
            return 0;
        }
        append(bytes_, PcapRecord{uint32_t(packet.timestamp_ns / kNsPerSecond), uint32_t(packet.timestamp_ns % kNsPerSecond), bytes, packet.wire_len});
        bytes_.append(reinterpret_cast<const char *>(packet.data), bytes);
        ++taken_;
        return 1;
    }

    void begin(uint16_t link_type)
    {
        PcapHeader header;
        std::string bytes;
        header.link_type = link_type_ = link_type;
        header.snaplen = std::min(mapi_caplen_max(link_type), snap_bytes_);
        append(bytes, header);
        writer_.set_header(std::move(bytes));
        has_header_ = true;
    }

    uint64_t *const result_;
    const uint64_t most_; // packets; 0: all
    const uint32_t snap_bytes_;
    uint64_t taken_ = 0;
    uint16_t link_type_;
    bool has_header_ = false;
    std::string bytes_; // of a batch
    std::atomic<uint64_t> of_other_links_ = 0;
    std::atomic<uint64_t> unwritable_ = 0;
    RecordWriter writer_;
};

int create(const mapi_function_setup *setup, void **instance)
{
    const int64_t format = setup->arguments[kFormat].number, most = setup->arguments[kCount].number;
    if (format != MFF_PCAP && format != MFF_RAW)
        return refuse(setup, MFUNCT_COULD_NOT_APPLY_FUNCT, "the format is neither MFF_PCAP nor MFF_RAW, which are pcap files both");
    if (most < 0)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_3, "the number of packets is below 0");
    if (const int refused = charge_memory(setup, RecordWriter::kMemoryBytes))
        return refused;
    return create_object<PacketFile>(setup, instance, setup, uint64_t(most));
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    static_cast<PacketFile *>(instance)->run(*batch, mask);
    return mask;
}

void drops(const void *instance, mapi_function_drops *drops)
{
    static_cast<const PacketFile *>(instance)->drops(drops);
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_to_file = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "TO_FILE",
    .description = "writes packets to a pcap file",
    .args = "iw?i",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_RESULT_IN_PLACE,
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::PacketFile>,
    .end = mapi::functions::end_file<mapi::functions::PacketFile>,
    .is_settled = mapi::functions::is_file_settled<mapi::functions::PacketFile>,
    .cancel = mapi::functions::cancel_file<mapi::functions::PacketFile>,
    .drops = mapi::functions::drops,
};
