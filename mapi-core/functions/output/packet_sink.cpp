// SPDX-License-Identifier: MIT
// Packet sink: records -> a sequence of files.
#include "functions/output/packet_sink.hpp"

#include <unistd.h>

namespace mapi::functions
{
PacketSink::PacketSink(const std::vector<int> &files, const FileRotation &rotation, View view,
                       RecordBytes bytes)
    : rotation_(rotation), view_(view), record_bytes_(bytes)
{
    for (const int file : files)
        files_.push_back({file, std::make_unique<FileSink>(file, record_bytes_)});
}

int PacketSink::write(const std::string &header, const IsGivenUp &is_given_up)
{
    header_ = header;
    int first_error = 0;
    for (File &file : files_) {
        const int error = write_header(file, is_given_up);
        first_error = first_error ? first_error : error;
    }
    return first_error;
}

int PacketSink::write_records(const std::string &records, const IsGivenUp &is_given_up,
                              uint64_t &written)
{
    std::string_view rest = records;
    written = 0;
    const int error = write_records(rest, is_given_up, written);
    for (; !rest.empty(); rest.remove_prefix(
             view_(rest).bytes)) // the packets are lost, but later records need their descriptions
        heads_ += rest.substr(0, view_(rest).head_bytes);
    return error;
}

// Writes until nothing is left or an error occurs.
int PacketSink::write_records(std::string_view &rest, const IsGivenUp &is_given_up,
                              uint64_t &written)
{
    while (!rest.empty()) {
        const RecordView record = view_(rest);
        if (is_full(record)) {
            if (const int error = write_chunk(is_given_up, written))
                return error;
            begin_next_file();
        }
        heads_ += rest.substr(0, record.head_bytes);
        const std::string_view packet =
            rest.substr(record.head_bytes, record.bytes - record.head_bytes);
        rest.remove_prefix(record.bytes);
        if (!files_[at_].has_header || written_heads_ < heads_.size()) {
            int error = write_chunk(is_given_up, written);
            error = error ? error : write_heads(is_given_up);
            if (error)
                return error;
        }
        chunk_ += packet;
        ++chunk_records_;
        bytes_ += packet.size();
        if (!has_packets_)
            first_ns_ = record.time_ns;
        has_packets_ = true;
    }
    return write_chunk(is_given_up, written);
}

// A file has at least one packet, no matter how long.
bool PacketSink::is_full(const RecordView &record) const
{
    if (!has_packets_)
        return false;
    return (rotation_.bytes && bytes_ + record.bytes > rotation_.bytes) ||
           (rotation_.ns && record.time_ns >= first_ns_ &&
            record.time_ns - first_ns_ >= rotation_.ns);
}

void PacketSink::begin_next_file()
{
    at_ = (at_ + 1) % files_.size();
    File &file = files_[at_];
    lseek(file.descriptor, 0, SEEK_SET); // its new sink truncates it
    file.sink = std::make_unique<FileSink>(file.descriptor, record_bytes_);
    file.has_header = false;
    written_heads_ = 0;
    has_packets_ = false;
    bytes_ = 0;
}

int PacketSink::write_header(File &file, const IsGivenUp &is_given_up)
{
    const int error = file.has_header ? 0 : file.sink->write(header_, is_given_up);
    file.has_header = error == 0;
    return error;
}

int PacketSink::write_heads(const IsGivenUp &is_given_up)
{
    int error = write_header(files_[at_], is_given_up);
    const std::string missing = heads_.substr(written_heads_);
    error = error ? error : files_[at_].sink->write(missing, is_given_up);
    if (error)
        return error;
    written_heads_ = heads_.size();
    bytes_ += missing.size() + (has_packets_ ? 0 : header_.size());
    return 0;
}

int PacketSink::write_chunk(const IsGivenUp &is_given_up, uint64_t &written)
{
    if (chunk_.empty())
        return 0;
    uint64_t there = 0;
    const int error = files_[at_].sink->write_records(chunk_, is_given_up, there);
    written += error ? there : chunk_records_;
    chunk_.clear();
    chunk_records_ = 0;
    return error;
}
} // namespace mapi::functions
