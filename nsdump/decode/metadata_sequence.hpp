// SPDX-License-Identifier: MIT
// decode: sequence numbers of metadata chunks -> how many of each kind are missing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include <nsprobe/file.h>

namespace nsdump
{
inline bool is_metadata_kind(unsigned kind)
{
    return kind >= NSLICE_CHUNK_INFO && kind < NSLICE_CHUNK_KINDS && kind != NSLICE_CHUNK_RECORDS &&
           kind != NSLICE_CHUNK_KERNEL_RECORDS;
}

// Name for messages to the user.
inline const char *metadata_title(unsigned kind)
{
    switch (kind) {
    case NSLICE_CHUNK_INFO: return "INFO";
    case NSLICE_CHUNK_SITES: return "the site table";
    case NSLICE_CHUNK_CALIBRATION: return "the calibration";
    case NSLICE_CHUNK_EPOCHS: return "the epochs";
    case NSLICE_CHUNK_KERNEL_TOTALS: return "the kernel's totals";
    case NSLICE_CHUNK_KERNEL_CALIBRATION: return "the kernel's calibration";
    case NSLICE_CHUNK_KERNEL_SITES: return "the kernel's site table";
    default: return "the footer";
    }
}

// Number of chunks by kind.  The footer holds it, since a gap in the sequence cannot show that the
// last chunk is missing.
using ChunkCounts = std::array<uint64_t, NSLICE_CHUNK_KINDS>;

class MetadataSequence
{
public:
    // Notes a chunk that could be read.
    void note(unsigned kind, uint64_t sequence)
    {
        Kind &one = kinds_[kind];
        if (sequence < one.next) {
            ++one.repeated;
            return;
        }
        one.next = sequence + 1;
        ++one.read;
    }
    void take_reported(const ChunkCounts &reported) { reported_ = reported; }

    uint64_t missing(unsigned kind) const
    {
        return std::max(kinds_[kind].next, reported_[kind]) - kinds_[kind].read;
    }
    // Chunks that are repeated or out of sequence.
    uint64_t repeated(unsigned kind) const { return kinds_[kind].repeated; }

private:
    struct Kind {
        uint64_t next = 0;
        uint64_t read = 0;
        uint64_t repeated = 0;
    };
    std::array<Kind, NSLICE_CHUNK_KINDS> kinds_{};
    ChunkCounts reported_{};
};
} // namespace nsdump
