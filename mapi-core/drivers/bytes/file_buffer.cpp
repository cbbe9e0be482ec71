// SPDX-License-Identifier: MIT
// File buffer: a file, compressed or not -> contiguous bytes.
#include "drivers/bytes/file_buffer.hpp"

#include <algorithm>
#include <cstring>

#include "drivers/bytes/input_file.hpp"
#include "drivers/capture_error.hpp"
#include "drivers/unpack/unpacker.hpp"

namespace mapi::drivers
{
namespace
{
// As large as a second-level cache, where the packet path then finds most of the bytes that read()
// has just written; copying a gigabyte in pieces of a quarter of this size takes 1.4 times as long
// (Zen 5).
constexpr size_t kBufferBytes = size_t(1024) << 10;
constexpr size_t kPageBytes = PageBuffer::kPageBytes;
} // namespace

FileBuffer::FileBuffer(const std::string &path, int file, const mapi_memory *memory)
    : path_(shown_path(path)), claim_(memory), source_(std::make_unique<InputFile>(path, file)),
      storage_(claimed(path_)), cursor_(storage_.data()), end_(cursor_)
{
    fill(kMagicBytes);
    if (const Compressor *compressor = find_compressor({begin(), end()})) {
        source_ = std::make_unique<Unpacker>(*compressor, path_, std::move(source_),
                                             std::span(begin(), end()), memory);
        cursor_ = end_ = storage_.data();
        position_ = 0;
    }
}

// Claims the memory; returns the size of the first buffer.
size_t FileBuffer::claimed(const std::string &path)
{
    const uint64_t bytes = kBufferBytes + ReadAhead::kMemoryBytes;
    if (!claim_.resize(bytes))
        throw claim_.refusal(path + ": ", bytes);
    return kBufferBytes;
}

// For a record that is longer than all previous ones.
void FileBuffer::grow(size_t rest, size_t bytes)
{
    const uint64_t held = storage_.size() + ReadAhead::kMemoryBytes;
    if (!claim_.resize(held + bytes + kPageBytes))
        throw claim_.refusal(where() + ": ", held + bytes + kPageBytes);
    PageBuffer larger(bytes);
    memcpy(larger.data(), cursor_, rest);
    storage_.swap(larger);
    cursor_ = storage_.data();
    claim_.resize(storage_.size() + ReadAhead::kMemoryBytes);
}

// Moves the rest so that the next bytes get the same offset in a page as in the file: the kernel
// copies five times slower to an address a little above the source's, modulo a page (REP MOVSB on
// AMD Zen 3).
uint8_t *FileBuffer::place(size_t rest, size_t bytes)
{
    if (bytes + 2 * kPageBytes > storage_.size())
        grow(rest, bytes + 2 * kPageBytes);
    uint8_t *const first = storage_.data() + rest;
    const size_t shift = (position_ - reinterpret_cast<uintptr_t>(first)) % kPageBytes;
    if (cursor_ != storage_.data() + shift)
        memmove(storage_.data() + shift, cursor_, rest);
    return storage_.data() + shift;
}

bool FileBuffer::fill(size_t bytes)
{
    if (available() >= bytes)
        return true;
    // Do not allocate memory for a length that exceeds the file.
    if (bytes > storage_.size() && !source_->is_open_ended() && bytes > rest_bytes())
        return false;
    if (position_ > 0 && !has_tried_ahead_) {
        has_tried_ahead_ = true;
        ahead_ = ReadAhead::start(*source_, position_, indexing_);
    }
    while (ahead_ && available() < bytes && take_piece(bytes)) {
        if (is_at_index()) // nothing was left of the previous piece
            return true;
        if (available() <
            bytes) // the rest continues where the index has other packets: so the index is wrong
            leave_index();
    }
    return available() >= bytes || fill_in_place(bytes);
}

// Moves the rest into storage_, with room for `bytes` and for a piece of the file after it; returns
// its end.
uint8_t *FileBuffer::gather(size_t rest, size_t bytes)
{
    const size_t needed = std::max(rest, bytes) + ReadAhead::kPieceBytes;
    if (needed > storage_.size())
        grow(rest, needed);
    else if (cursor_ != storage_.data())
        memmove(storage_.data(), cursor_, rest);
    cursor_ = storage_.data();
    return storage_.data() + rest;
}

// False if the source must be read directly from here.
bool FileBuffer::take_piece(size_t bytes)
{
    const size_t rest = available();
    const ReadAhead::Piece piece = ahead_->take();
    if (piece.bytes == 0)
        return false;
    if (rest <= ReadAhead::kRoomBytes) {
        cursor_ = static_cast<uint8_t *>(memcpy(piece.at - rest, cursor_, rest));
        end_ = piece.at + piece.bytes;
        show(piece.index);
    } else {
        uint8_t *const to = gather(rest, bytes);
        end_ = static_cast<uint8_t *>(memcpy(to, piece.at, piece.bytes)) + piece.bytes;
    }
    ahead_->release_before();
    position_ += piece.bytes;
    return true;
}

// Bytes before the index's first packet are parsed first.
void FileBuffer::show(const PieceIndex *index)
{
    index_ = index;
    next_indexed_ = 0;
    hidden_bytes_ = index ? size_t(end_ - index->record_of(0)) : 0;
    end_ -= hidden_bytes_;
}

uint32_t FileBuffer::take_indexed(mapi_batch &batch)
{
    batch = index_->batch(next_indexed_++);
    const uint8_t *const record = index_->record_of(next_indexed_);
    hidden_bytes_ -= size_t(record - end_);
    cursor_ = end_ = record;
    if (next_indexed_ == index_->count())
        leave_index();
    return batch.count;
}

void FileBuffer::leave_index()
{
    index_ = nullptr;
    end_ += hidden_bytes_;
    hidden_bytes_ = 0;
}

bool FileBuffer::fill_in_place(size_t bytes)
{
    const size_t rest = available();
    uint8_t *const base = place(rest, bytes);
    ahead_.reset(); // place() has copied the rest out of its memory
    const uint8_t *const storage_end = storage_.data() + storage_.size();
    cursor_ = base;
    end_ = base + rest;
    while (available() < bytes) {
        uint8_t *const to = base + available();
        const size_t got = source_->read(to, size_t(storage_end - to));
        if (got == 0)
            return false;
        end_ = to + got;
        position_ += got;
    }
    return true;
}

bool FileBuffer::rewind()
{
    ahead_.reset();
    if (!source_->rewind())
        return false;
    cursor_ = end_ = storage_.data();
    position_ = 0;
    index_ = nullptr;
    hidden_bytes_ = 0;
    indexing_.format = nullptr;
    has_tried_ahead_ = false;
    return true;
}
} // namespace mapi::drivers
