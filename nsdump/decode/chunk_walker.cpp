// SPDX-License-Identifier: MIT
// decode: bytes -> the valid chunks of a file in sequence, skipping any damage.
#include "decode/chunk_walker.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/crc32c/crc32c.h"

namespace nsdump
{
namespace
{
constexpr size_t kSearchBlockBytes = 1 << 16;
constexpr size_t kMaxHeaderBytes = 64;
constexpr uint64_t kMostReadings = 4; // times the file size, for checksums that are wrong
} // namespace

ChunkWalker::ChunkWalker(ByteSource &source, const Format &format, uint64_t offset, DamageLog *log)
    : source_(source), format_(format), log_(log), offset_(offset)
{
}

uint64_t ChunkWalker::end_of(const Chunk &chunk) const
{
    return chunk.offset + format_.chunk_header_bytes + chunk.header.payload_bytes;
}

bool ChunkWalker::header_at(uint64_t offset, Chunk &chunk)
{
    std::array<std::byte, kMaxHeaderBytes> bytes;
    if (source_.read_at(offset, bytes.data(), format_.chunk_header_bytes) !=
        format_.chunk_header_bytes)
        return false;
    chunk.offset = offset;
    return format_.decode_chunk_header(bytes.data(), chunk.header) &&
           end_of(chunk) <= source_.size_bytes();
}

bool ChunkWalker::read_payload(const Chunk &chunk, std::vector<uint64_t> &words)
{
    words.resize(chunk.header.payload_bytes / NSLICE_WORD_BYTES);
    const uint64_t offset = chunk.offset + format_.chunk_header_bytes;
    return source_.read_at(offset, words.data(), chunk.header.payload_bytes) ==
               chunk.header.payload_bytes &&
           nslice_crc32c(words.data(), chunk.header.payload_bytes) == chunk.header.payload_crc32c;
}

bool ChunkWalker::search(uint64_t from, Chunk &chunk)
{
    const size_t header_bytes = format_.chunk_header_bytes;
    block_.resize(kSearchBlockBytes + header_bytes);
    from = (from + 7) / 8 * 8;
    while (from < source_.size_bytes()) {
        const size_t got = source_.read_at(from, block_.data(), block_.size());
        if (got < header_bytes)
            return false;
        const size_t places = std::min(got - header_bytes + 1, kSearchBlockBytes);
        for (size_t at = 0; at < places; at += 8) {
            if (!format_.decode_chunk_header(block_.data() + at, chunk.header))
                continue;
            chunk.offset = from + at;
            if (end_of(chunk) <= source_.size_bytes())
                return true;
        }
        from += kSearchBlockBytes;
    }
    return false;
}

// Skips to the next valid chunk after damage; false at the end of the file.
bool ChunkWalker::resynchronise(uint64_t damage_offset, const char *what)
{
    Chunk found;
    const bool more = search(damage_offset + 8, found);
    const uint64_t next = more ? found.offset : source_.size_bytes();
    if (log_)
        log_->add(damage_offset, next - damage_offset, what);
    offset_ = next;
    if (more)
        peeked_ = found;
    else
        peeked_.reset();
    return more;
}

bool ChunkWalker::next(Chunk &chunk)
{
    for (;;) {
        if (peeked_) {
            chunk = *peeked_;
            peeked_.reset();
        } else if (offset_ >= source_.size_bytes()) {
            return false;
        } else if (!header_at(offset_, chunk)) {
            if (!resynchronise(offset_, "no valid chunk header"))
                return false;
            continue;
        }
        offset_ = end_of(chunk);
        if (offset_ == source_.size_bytes())
            return true;
        Chunk following;
        if (header_at(offset_, following)) {
            peeked_ = following;
            return true;
        }
        // Ordinary damage makes a byte's checksum fail once or twice; headers nested in each
        // other's payloads on purpose could do so thousands of times.
        if (refuted_bytes_ / kMostReadings >= source_.size_bytes()) {
            resynchronise(chunk.offset, "no chunk where it, and too many before it, should end");
            continue;
        }
        if (read_payload(chunk, payload_))
            return true; // intact; the damage after it is found by the next call
        refuted_bytes_ += chunk.header.payload_bytes;
        resynchronise(chunk.offset, "wrong payload checksum and no chunk where it should end");
    }
}
} // namespace nsdump
