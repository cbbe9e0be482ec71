// SPDX-License-Identifier: MIT
// TO_FILE: packet -> pcap or pcapng file with nanoseconds, or a sequence of files.  Lets every
// packet pass.
#include <algorithm>
#include <atomic>
#include <bit>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <mapi/mapi.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/output/file_rotation.hpp"
#include "functions/output/packet_record.hpp"
#include "functions/output/packet_sink.hpp"
#include "functions/output/record_writer.hpp"
#include "links/link_type.hpp"

namespace mapi::functions
{
namespace
{
enum Argument { kFormat, kPath, kCount, kRotation };

struct Format {
    std::unique_ptr<PacketRecords> records;
    PacketSink::View view;
    RecordBytes bytes;
    bool has_heads; // records may include descriptions
};

Format format_of(int64_t number)
{
    if (number == MFF_PCAPNG)
        return {make_pcapng_records(), view_pcapng_record, pcapng_record_bytes, true};
    return {std::make_unique<PcapRecords>(), PcapRecords::view, PcapRecords::bytes, false};
}

// A rotation has its path's file and the files passed with its argument.
std::unique_ptr<RecordSink> sink_of(const mapi_function_setup *setup, const Format &format,
                                    const FileRotation &rotation)
{
    const mapi_argument &path = setup->arguments[kPath], &more = setup->arguments[kRotation];
    if (!format.has_heads && rotation.files == 0)
        return std::make_unique<FileSink>(int(path.number), format.bytes);
    std::vector<int> files = {int(path.number)};
    for (int64_t i = 0; rotation.files && i < more.number; ++i)
        files.push_back(more.files[i]);
    return std::make_unique<PacketSink>(files, rotation, format.view, format.bytes);
}

class PacketFile
{
public:
    PacketFile(const mapi_function_setup *setup, Format format, const FileRotation &rotation,
               uint64_t most)
        : result_(allocate_result<uint64_t>(setup, sizeof(uint32_t))), most_(most),
          snap_bytes_(functions::snap_bytes(setup)), link_type_(setup->link_type),
          records_(std::move(format.records)),
          writer_(sink_of(setup, format, rotation), is_offline(setup),
                  [this] { mapi_result_set(result_, MAPI_FILE_DONE); })
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
            begin(link_type_ < MAPI_LINK_UNKNOWN ? link_type_ : uint16_t(links::kEthernet));
        writer_.finish(bytes_, 0);
    }

    RecordWriter &writer() { return writer_; }
    uint32_t snap_bytes() const { return snap_bytes_; }

    void drops(mapi_function_drops *drops) const
    {
        writer_.add_drops(drops);
        drops->not_written += unwritable_.load(std::memory_order_relaxed);
        drops->link_type = of_other_links_.load(std::memory_order_relaxed);
    }

private:
    bool is_full() const { return most_ != 0 && taken_ == most_; }

    // Returns the number of packets taken.
    uint64_t take(const mapi_packet &packet)
    {
        if (!has_header_)
            begin(packet.link_type);
        const uint32_t bytes = std::min(packet.caplen, snap_bytes_);
        const bool is_short = bytes <= RecordWriter::kRecordBytesMax - kRecordHeadBytes;
        const RecordTaken taken =
            is_short ? records_->append(bytes_, packet, bytes) : RecordTaken::kNoRoom;
        if (taken == RecordTaken::kYes) [[likely]]
            return ++taken_, 1;
        (taken == RecordTaken::kOtherLink ? of_other_links_ : unwritable_)
            .fetch_add(1, std::memory_order_relaxed);
        return 0;
    }

    void begin(uint16_t link_type)
    {
        writer_.set_header(records_->header(link_type, snap_bytes_));
        has_header_ = true;
    }

    static constexpr size_t kRecordHeadBytes =
        80; // pcapng: an interface description and the block around a packet

    uint64_t *const result_;
    const uint64_t most_; // packets; 0: all
    const uint32_t snap_bytes_;
    uint64_t taken_ = 0;
    const uint16_t link_type_;
    const std::unique_ptr<PacketRecords> records_;
    bool has_header_ = false;
    std::string bytes_; // of a batch
    std::atomic<uint64_t> of_other_links_ = 0;
    std::atomic<uint64_t> unwritable_ = 0;
    RecordWriter writer_;
};

int create(const mapi_function_setup *setup, void **instance)
{
    const int64_t format = setup->arguments[kFormat].number, most = setup->arguments[kCount].number;
    const mapi_argument &rotation = setup->arguments[kRotation];
    if (format != MFF_PCAP && format != MFF_RAW && format != MFF_PCAPNG)
        return refuse(setup, MFUNCT_COULD_NOT_APPLY_FUNCT,
                      "format " + std::to_string(format) +
                          " is not 0 (MFF_PCAP), 1 (MFF_RAW) or 5 (MFF_PCAPNG)");
    if (most < 0)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_3, "the number of packets is negative");
    const auto parsed = rotation.kind ? parse_file_rotation(rotation.text) : FileRotation{};
    if (!parsed || (rotation.kind && rotation.number + 1 != int64_t(parsed->files)))
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_4, kFileRotationForm);
    if (const int refused = reserve_memory(setup, RecordWriter::kMemoryBytes))
        return refused;
    return create_object<PacketFile>(setup, instance, setup, format_of(format), *parsed,
                                     uint64_t(most));
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

int describe(const void *instance, uint16_t, mapi_offload_step *step)
{
    step->reason = "it writes a file";
    step->bytes_read = static_cast<const PacketFile *>(instance)->snap_bytes();
    return 0;
}

constexpr mapi_function_offload kOffload = {
    .struct_size = sizeof(mapi_function_offload),
    .describe = describe,
};

constexpr mapi_function_ending kEnding = {
    .struct_size = sizeof(mapi_function_ending),
    .end = end_file<PacketFile>,
    .is_settled = is_file_settled<PacketFile>,
    .cancel = cancel_file<PacketFile>,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_to_file = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "TO_FILE",
    .description = "writes packets to one or several pcap or pcapng files",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_RESULT_IN_PLACE,
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::PacketFile>,
    .arguments = {MAPI_ARGUMENT_INT, MAPI_ARGUMENT_FILE, MAPI_OPTIONAL | MAPI_ARGUMENT_INT,
                  MAPI_OPTIONAL_COUNTED | MAPI_ARGUMENT_ROTATION},
    .drops = mapi::functions::drops,
    .ending = &mapi::functions::kEnding,
    .offload = &mapi::functions::kOffload,
};
