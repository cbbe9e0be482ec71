// SPDX-License-Identifier: MIT
// decode: the chunks of a trace -> which of them may begin a unit or have records of a name; that
// as bytes, and back.
#include "decode/seek/unit_index.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "common/crc32c/crc32c.h"

namespace nsdump
{
namespace
{
constexpr char kMagic[] = "NSLINDEX"; // without its zero
constexpr uint32_t kVersion = 1;
constexpr size_t kBatchEvents = 512;

// At the start of the file; the summaries follow, for each CPU as in TraceFile::cpus().
struct Header {
    std::array<char, 8> magic;
    uint32_t version;
    uint32_t byte_order; // as in the trace
    uint64_t trace_bytes;
    uint64_t trace_modified_ns;
    std::array<uint8_t, 16> session_uuid;
    uint64_t chunks;
    uint32_t reserved;
    uint32_t crc32c; // of the header before it, and the summaries
};
static_assert(sizeof(Header) == 64 && sizeof(ChunkSummary) == 24, "they are in files");

uint64_t chunks_of_all(const TraceFile &trace)
{
    uint64_t chunks = 0;
    for (const CpuChunks &cpu : trace.cpus())
        chunks += cpu.chunks;
    return chunks;
}

Header header_for(const TraceFile &trace)
{
    Header header{};
    std::memcpy(header.magic.data(), kMagic, header.magic.size());
    header.version = kVersion;
    header.byte_order = NSLICE_FILE_BYTE_ORDER;
    header.trace_bytes = trace.source().size_bytes();
    header.trace_modified_ns = trace.source().modified_ns();
    header.session_uuid = trace.header().session_uuid;
    header.chunks = chunks_of_all(trace);
    return header;
}

uint32_t checksum_of(const void *bytes, size_t size)
{
    constexpr size_t kAt = offsetof(Header, crc32c);
    const auto *const begin = static_cast<const char *>(bytes);
    std::array<uint32_t, 2> parts = {nslice_crc32c(begin, kAt),
                                     nslice_crc32c(begin + sizeof(Header), size - sizeof(Header))};
    return nslice_crc32c(parts.data(), sizeof parts);
}
} // namespace

void ChunkSummary::add(const Event &event)
{
    names |= bit_of(event.slice_id);
    if (event.kind != NSLICE_KIND_INIT || event.word_count < NSLICE_INIT_WORDS)
        return;
    least_unit = std::min(least_unit, event.words[0]);
    greatest_unit = std::max(greatest_unit, event.words[0]);
}

bool for_each_event(TraceFile &trace, ChunkWalker &walker, uint64_t offset, uint32_t cpu,
                    const std::function<void(const Event &)> &each)
{
    Chunk chunk;
    std::vector<uint64_t> payload;
    if (!walker.header_at(offset, chunk) || !walker.read_payload(chunk, payload))
        return false;
    std::array<Event, kBatchEvents> events;
    RecordCursor cursor{payload.data(), payload.data() + payload.size(), cpu};
    for (;;) {
        const size_t count = trace.format().decode_records(cursor, events.data(), events.size());
        if (count == 0)
            return true;
        std::for_each_n(events.data(), count, each);
    }
}

std::optional<UnitIndex> UnitIndex::build(TraceFile &trace,
                                          const std::function<bool(uint64_t)> &progress)
{
    UnitIndex index;
    ChunkWalker walker(trace.source(), trace.format(), 0, nullptr);
    uint64_t done_bytes = 0;
    for (const CpuChunks &cpu : trace.cpus()) {
        auto &summaries = index.by_place_.emplace_back();
        Offsets::Reader offsets(cpu.offsets);
        for (uint64_t offset = 0, last = 0; offsets.next(offset); last = offset) {
            ChunkSummary summary;
            for_each_event(trace, walker, offset, cpu.cpu,
                           [&](const Event &event) { summary.add(event); });
            summaries.push_back(summary);
            done_bytes += (offset - last) / trace.cpus().size();
            if (!progress(done_bytes))
                return std::nullopt;
        }
    }
    return index;
}

size_t UnitIndex::encoded_bytes(const TraceFile &trace)
{
    return sizeof(Header) + chunks_of_all(trace) * sizeof(ChunkSummary);
}

std::string UnitIndex::encode(const TraceFile &trace) const
{
    Header header = header_for(trace);
    std::string bytes(sizeof header, '\0');
    std::memcpy(bytes.data(), &header, sizeof header);
    for (const auto &summaries : by_place_)
        bytes.append(reinterpret_cast<const char *>(summaries.data()),
                     summaries.size() * sizeof(ChunkSummary));
    header.crc32c = checksum_of(bytes.data(), bytes.size());
    std::memcpy(bytes.data(), &header, sizeof header);
    return bytes;
}

bool UnitIndex::is_index(std::span<const std::byte> bytes)
{
    constexpr size_t kMagicBytes = sizeof kMagic - 1;
    return bytes.size() >= kMagicBytes && std::memcmp(bytes.data(), kMagic, kMagicBytes) == 0;
}

std::optional<UnitIndex> UnitIndex::decode(std::span<const std::byte> bytes, const TraceFile &trace)
{
    if (bytes.size() != encoded_bytes(trace))
        return std::nullopt;
    Header header = header_for(trace);
    header.crc32c = checksum_of(bytes.data(), bytes.size());
    if (std::memcmp(&header, bytes.data(), sizeof header) != 0)
        return std::nullopt;
    UnitIndex index;
    const std::byte *at = bytes.data() + sizeof header;
    for (const CpuChunks &cpu : trace.cpus()) {
        auto &summaries = index.by_place_.emplace_back(cpu.chunks);
        if (cpu.chunks > 0)
            std::memcpy(summaries.data(), at, cpu.chunks * sizeof(ChunkSummary));
        at += cpu.chunks * sizeof(ChunkSummary);
    }
    return index;
}
} // namespace nsdump
