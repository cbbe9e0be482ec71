// SPDX-License-Identifier: MIT
// File buffer: a file, compressed or not -> contiguous bytes, read in pieces into few buffers that stay in the cache.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "drivers/bytes/byte_source.hpp"
#include "drivers/bytes/memory_claim.hpp"
#include "drivers/bytes/page_buffer.hpp"
#include "drivers/bytes/read_ahead.hpp"

namespace mapi::drivers
{
class FileBuffer
{
public:
    // Throws CaptureError when the file cannot be opened, or is compressed by what this build does not unpack, or there is no memory left.
    explicit FileBuffer(const std::string &path, int file = -1, const mapi_memory *memory = nullptr); // as InputFile, and MemoryClaim

    const uint8_t *begin() const { return cursor_; }
    const uint8_t *end() const { return end_; }
    // For readers that change bytes in place before they are handed out.
    uint8_t *writable(const uint8_t *position) { return const_cast<uint8_t *>(position); }
    size_t available() const { return size_t(end_ - cursor_); }
    // Everything before `position` is done with; it stays in place until the next fill().
    void consume_to(const uint8_t *position) { cursor_ = position; }

    // Lets a thread that reads ahead find packets, until rewind(), and filter them.
    void use_format(std::shared_ptr<const PieceFormat> format) { indexing_.format = std::move(format); }
    void use_prefilter(std::shared_ptr<PrefilterSlot> prefilter) { indexing_.prefilter = std::move(prefilter); }
    // Whether packets that were found so come next: begin() and end() are the same then.
    bool is_at_index() const { return index_ && cursor_ == end_; }
    // The next batch of them; begin() is behind it then.
    uint32_t take_indexed(mapi_batch &batch);
    // From here to the end of the piece the reader goes through the records itself.
    void leave_index();
    // At begin() a record was cut before fill() made it whole: it and those behind it may be found at once.
    void index_from_here()
    {
        if (ahead_ && !index_)
            show(ahead_->index_from(cursor_));
    }

    // While it is held nobody may call fill(): packets that were handed out point into it.
    void hold(bool is_held) { is_held_ = is_held; }
    bool is_held() const { return is_held_; }

    // Makes at least `bytes` available, moving what is left, or comes to an index.  False: the file ends before that.
    bool fill(size_t bytes);
    // Any thread: a fill() that waits for a pipe, now or later, throws CaptureError.
    void interrupt() { source_->interrupt(); }
    // Back to the first byte; false when the source cannot seek.
    bool rewind();

    // Place of begin() in the file, or in what it unpacks to; also as the beginning of a message.
    uint64_t offset() const { return position_ - hidden_bytes_ - available(); }
    std::string where() const { return path_ + ": offset " + std::to_string(offset()) + source_->offset_remark(); }
    // Bytes from begin() to the end of the file, as far as the file system tells.
    uint64_t rest_bytes() const { return available() + hidden_bytes_ + (ahead_ ? ahead_->rest_bytes() : source_->rest_bytes()); }
    const std::string &path() const { return path_; }

private:
    size_t claimed(const std::string &path);
    void grow(size_t rest, size_t bytes);
    uint8_t *place(size_t rest, size_t bytes);
    uint8_t *gather(size_t rest, size_t bytes);
    bool take_piece(size_t bytes);
    bool fill_in_place(size_t bytes);
    void show(const PieceIndex *index);

    const std::string path_;
    MemoryClaim claim_; // of storage_ and ahead_
    std::unique_ptr<ByteSource> source_;
    PageBuffer storage_;
    const uint8_t *cursor_;
    const uint8_t *end_;
    uint64_t position_ = 0; // of what is hidden_bytes_ behind end_
    PieceIndexing indexing_;
    const PieceIndex *index_ = nullptr; // of packets behind end_; null: none
    uint32_t next_indexed_ = 0;         // batch
    size_t hidden_bytes_ = 0;           // behind end_, from the first packet of the index on
    std::unique_ptr<ReadAhead> ahead_; // behind the first buffer of a large file: what end_ points to is its memory, or storage_
    bool has_tried_ahead_ = false;
    bool is_held_ = false;
};
} // namespace mapi::drivers
