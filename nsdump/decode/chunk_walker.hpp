// SPDX-License-Identifier: MIT
// decode: bytes -> the valid chunks of a file in sequence, skipping any damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "decode/damage.hpp"
#include "decode/format.hpp"
#include "decode/source/bytes.hpp"

namespace nsdump
{
struct Chunk {
    uint64_t offset = 0;
    ChunkHeader header;
};

// Walks headers only; payloads are read on request.  A chunk that is not followed by a valid chunk
// is returned only if its payload checksum is correct, since a wrong one may mean that bytes are
// missing inside it.
class ChunkWalker
{
public:
    // `log` may be null, so that a second walk over the same file does not count its damage again.
    ChunkWalker(ByteSource &source, const Format &format, uint64_t offset, DamageLog *log);

    bool next(Chunk &chunk);
    // Reads the header at a known offset; false if it is not valid.
    bool header_at(uint64_t offset, Chunk &chunk);
    // False if the checksum is wrong or the file was truncated.  `words` receives the payload's
    // words and is reused from call to call.
    bool read_payload(const Chunk &chunk, std::vector<uint64_t> &words);

private:
    bool search(uint64_t from, Chunk &chunk);
    bool resynchronise(uint64_t damage_offset, const char *what);
    uint64_t end_of(const Chunk &chunk) const;

    ByteSource &source_;
    const Format &format_;
    DamageLog *log_;
    uint64_t offset_;             // expected start of the next chunk
    uint64_t refuted_bytes_ = 0;  // of payloads whose checksum was verified and wrong
    std::optional<Chunk> peeked_; // the valid header there, if it has already been read
    std::vector<std::byte> block_;
    std::vector<uint64_t> payload_;
};
} // namespace nsdump
