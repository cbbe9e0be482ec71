// SPDX-License-Identifier: MIT
// decode: bytes -> the valid chunks of a file, one after the other, past any damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "decode/bytes.hpp"
#include "decode/damage.hpp"
#include "decode/format.hpp"

namespace nsdump
{
struct Chunk {
    std::uint64_t offset = 0;
    ChunkHeader header;
};

// Walks headers only; payloads are read where somebody wants them.  A chunk after which no valid chunk stands must
// have a right payload checksum before it is given out, since a wrong one may mean that bytes are missing inside it.
class ChunkWalker
{
public:
    // `log` may be null: a second walk over the same file must not count its damage again.
    ChunkWalker(ByteSource &source, const Format &format, std::uint64_t offset, DamageLog *log);

    bool next(Chunk &chunk);
    // The one whose place is known; false when there is no valid header.
    bool header_at(std::uint64_t offset, Chunk &chunk);
    // False when the checksum is wrong or the file got shorter.  `units` is reused from call to call.
    bool read_payload(const Chunk &chunk, std::vector<std::uint64_t> &units);

private:
    bool search(std::uint64_t from, Chunk &chunk);
    bool resynchronise(std::uint64_t damage_offset, const char *what);
    std::uint64_t end_of(const Chunk &chunk) const;

    ByteSource &source_;
    const Format &format_;
    DamageLog *log_;
    std::uint64_t offset_;        // where the next chunk should start
    std::uint64_t refuted_bytes_ = 0; // of payloads that were read for their checksum, in vain
    std::optional<Chunk> peeked_; // the valid header there, when it has been read already
    std::vector<std::byte> block_;
    std::vector<std::uint64_t> payload_;
};
} // namespace nsdump
