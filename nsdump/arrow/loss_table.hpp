// SPDX-License-Identifier: MIT
// arrow: chunk headers and footer -> where and how many records were lost.
#pragma once

#include <optional>

#include <vector>

#include "analyse/losses.hpp"
#include "arrow/table.hpp"
#include "decode/chunk_walker.hpp"
#include "decode/file_reader.hpp"

namespace nsdump::arrow
{
// A loss lies between two chunks of a ring: somewhere from the first record of the one to that of
// the other.  The headers are read again, not kept: a trace may have more of them than fit in
// memory.
class LossTable : public Table
{
public:
    LossTable(const TraceFile &trace, const NsClock &clock);

    // Looks at some more chunks; false at the end.
    bool read_more();

private:
    struct Loss {
        std::optional<uint64_t> from_ticks, to_ticks;
        uint64_t records = 0;
        uint64_t missing_chunks = 0;
    };

    bool next_header(Chunk &chunk);
    void compare(const ChunkHeader &header);
    void end_ring();
    void add_rings_without_chunks();
    void add(bool is_kernel, uint32_t cpu, const Loss &loss);
    void add_time(size_t column, const std::optional<uint64_t> &ticks);

    const TraceFile &trace_;
    NsClock clock_;
    ChunkWalker walker_;
    std::vector<CpuLosses> by_cpu_; // according to the footer; those of rings that were read: zero
    size_t ring_ = 0;
    std::optional<Offsets::Reader> offsets_;
    std::optional<uint64_t> last_ticks_; // of the last chunk
    uint64_t next_sequence_ = 0;
    uint64_t lost_before_ = 0;
};
} // namespace nsdump::arrow
