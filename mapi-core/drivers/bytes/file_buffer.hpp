// SPDX-License-Identifier: MIT
// File buffer: a file, compressed or not -> contiguous bytes, read in pieces into a few buffers
// that stay in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "drivers/bytes/byte_source.hpp"
#include "drivers/bytes/memory_quota_use.hpp"
#include "drivers/bytes/page_buffer.hpp"
#include "drivers/bytes/read_ahead.hpp"

namespace mapi::drivers
{
class FileBuffer
{
public:
    // Throws CaptureError if the file cannot be opened, this build cannot unpack it, or no memory
    // is left.
    explicit FileBuffer(const std::string &path, int file = -1,
                        const mapi_memory *memory =
                            nullptr); // file: as for InputFile; memory: as for MemoryQuotaUse

    const uint8_t *begin() const { return cursor_; }
    const uint8_t *end() const { return end_; }
    // For readers that change bytes in place before they are delivered.
    uint8_t *writable(const uint8_t *position) { return const_cast<uint8_t *>(position); }
    size_t available() const { return size_t(end_ - cursor_); }
    // Everything before `position` is consumed; it stays in place until the next fill().
    void consume_to(const uint8_t *position) { cursor_ = position; }

    // Lets the read-ahead thread find packets (until rewind()) and filter them.
    void use_format(std::shared_ptr<const PieceFormat> format)
    {
        indexing_.format = std::move(format);
    }
    void use_prefilter(std::shared_ptr<PrefilterSlot> prefilter)
    {
        indexing_.prefilter = std::move(prefilter);
    }
    // Whether packets that were found this way come next: begin() and end() are equal then.
    bool is_at_index() const { return index_ && cursor_ == end_; }
    // The next batch of them; afterwards begin() is after it.
    uint32_t take_indexed(mapi_batch &batch);
    // From here to the end of the piece the reader parses the records itself.
    void leave_index();
    // The record at begin() was incomplete until fill(): it and the records after it can be indexed
    // now.
    void index_from_here()
    {
        if (ahead_ && !index_)
            show(ahead_->index_from(cursor_));
    }

    // While the buffer is held, fill() must not be called: delivered packets point into it.
    void hold(bool is_held) { is_held_ = is_held; }
    bool is_held() const { return is_held_; }

    // Makes at least `bytes` available, moving the rest of the buffer, or reaches an index.  False
    // if the file ends before that.
    bool fill(size_t bytes);
    // Any thread: a current or future fill() that waits for a pipe throws CaptureError.
    void interrupt() { source_->interrupt(); }
    // Back to the first byte; false if the source cannot seek.
    bool rewind();

    // Offset of begin() in the file, or in the unpacked data; where() is the beginning of a
    // message.
    uint64_t offset() const { return position_ - hidden_bytes_ - available(); }
    std::string where() const
    {
        return path_ + ": offset " + std::to_string(offset()) + source_->offset_remark();
    }
    // Bytes from begin() to the end of the file, as far as the file system knows.
    uint64_t rest_bytes() const
    {
        return available() + hidden_bytes_ +
               (ahead_ ? ahead_->rest_bytes() : source_->rest_bytes());
    }
    const std::string &path() const { return path_; } // as messages name it

private:
    size_t claimed(const std::string &path);
    void grow(size_t rest, size_t bytes);
    uint8_t *place(size_t rest, size_t bytes);
    uint8_t *gather(size_t rest, size_t bytes);
    bool take_piece(size_t bytes);
    bool fill_in_place(size_t bytes);
    void show(const PieceIndex *index);

    const std::string path_;
    MemoryQuotaUse claim_; // of storage_ and ahead_
    std::unique_ptr<ByteSource> source_;
    PageBuffer storage_;
    const uint8_t *cursor_;
    const uint8_t *end_;
    uint64_t position_ = 0; // of end_ + hidden_bytes_ in the source
    PieceIndexing indexing_;
    const PieceIndex *index_ = nullptr; // of packets after end_; null: none
    uint32_t next_indexed_ = 0;         // number of the next batch
    size_t hidden_bytes_ = 0;           // after end_, from the first packet of the index on
    std::unique_ptr<ReadAhead>
        ahead_; // after the first buffer of a large file: end_ points into its memory or storage_
    bool has_tried_ahead_ = false;
    bool is_held_ = false;
};
} // namespace mapi::drivers
