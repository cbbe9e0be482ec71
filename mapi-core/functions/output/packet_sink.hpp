// SPDX-License-Identifier: MIT
// Packet sink: records of packets -> a sequence of files, each of which is readable by itself.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "functions/output/file_rotation.hpp"
#include "functions/output/file_sink.hpp"
#include "functions/output/packet_record.hpp"

namespace mapi::functions
{
// Used only by the writer's thread, like all sinks.
class PacketSink : public RecordSink
{
public:
    using View = RecordView (*)(std::string_view records);

    // The files are open, as FileSink requires: one, or as many as the rotation has.  bytes: length
    // of a record without a description.
    PacketSink(const std::vector<int> &files, const FileRotation &rotation, View view,
               RecordBytes bytes);

    // Written to all files, so that a file without packets is also a valid capture.
    int write(const std::string &header, const IsGivenUp &is_given_up) override;
    int write_records(const std::string &records, const IsGivenUp &is_given_up,
                      uint64_t &written) override;

private:
    struct File {
        int descriptor;
        std::unique_ptr<FileSink> sink;
        bool has_header = false;
    };

    int write_records(std::string_view &rest, const IsGivenUp &is_given_up, uint64_t &written);
    bool is_full(const RecordView &record) const;
    void begin_next_file();
    int write_header(File &file, const IsGivenUp &is_given_up);
    int write_heads(const IsGivenUp &is_given_up);
    int write_chunk(const IsGivenUp &is_given_up, uint64_t &written);

    const FileRotation rotation_;
    const View view_;
    const RecordBytes record_bytes_;
    std::vector<File> files_;
    std::string header_;
    std::string heads_; // descriptions; each file needs all that precede its records
    std::string chunk_; // records for the current file
    uint64_t chunk_records_ = 0;
    // Of the current file.
    size_t at_ = 0;
    size_t written_heads_ = 0; // bytes
    uint64_t bytes_ = 0;       // including those in chunk_
    uint64_t first_ns_ = 0;
    bool has_packets_ = false;
};
} // namespace mapi::functions
