// SPDX-License-Identifier: MIT
// File buffer: a file, compressed or not -> contiguous bytes.
#include "drivers/file_buffer.hpp"

#include <cstring>

#include "drivers/input_file.hpp"
#include "drivers/unpack/unpacker.hpp"

namespace mapi::drivers
{
namespace
{
// As large as a second-level cache, so that the packet path finds most of what read() has just written there; copying a gigabyte in
// pieces of a quarter of this takes 1.4 times as long (Zen 5).
constexpr size_t kBufferBytes = size_t(1024) << 10;
constexpr size_t kPageBytes = PageBuffer::kPageBytes;
} // namespace

FileBuffer::FileBuffer(const std::string &path, int file)
    : path_(path), source_(std::make_unique<InputFile>(path, file)), storage_(kBufferBytes), cursor_(storage_.data()), end_(cursor_)
{
    fill(kMagicBytes);
    if (const Compressor *compressor = find_compressor({begin(), end()})) {
        source_ = std::make_unique<Unpacker>(*compressor, path, std::move(source_), std::span(begin(), end()));
        cursor_ = end_ = storage_.data();
        position_ = 0;
    }
}

// Moves what is left to where the next bytes get the same place in a page as they have in the file: the kernel copies
// five times slower to an address a little above the source's, modulo a page (REP MOVSB on AMD Zen 3).
uint8_t *FileBuffer::place(size_t rest, size_t bytes)
{
    if (bytes + 2 * kPageBytes > storage_.size()) {
        PageBuffer larger(bytes + 2 * kPageBytes);
        memcpy(larger.data(), cursor_, rest);
        storage_.swap(larger);
        cursor_ = storage_.data();
    }
    uint8_t *const first = storage_.data() + rest;
    const size_t shift = (position_ - reinterpret_cast<uintptr_t>(first)) % kPageBytes;
    if (cursor_ != storage_.data() + shift)
        memmove(storage_.data() + shift, cursor_, rest);
    return storage_.data() + shift;
}

bool FileBuffer::fill(size_t bytes)
{
    const size_t rest = available();
    if (rest >= bytes)
        return true;
    // A length that the file cannot hold must not cost the memory for it.
    if (bytes > storage_.size() && !source_->is_open_ended() && bytes > rest_bytes())
        return false;
    uint8_t *const base = place(rest, bytes);
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
    if (!source_->rewind())
        return false;
    cursor_ = end_ = storage_.data();
    position_ = 0;
    return true;
}
} // namespace mapi::drivers
