// SPDX-License-Identifier: MIT
// decode: one table of functions per file version; hides everything that differs between versions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/event.hpp"
#include "decode/trace_parts.hpp"

namespace nsdump
{
// The part of a verified payload that is not decoded yet.
struct RecordCursor {
    const uint64_t *at = nullptr;
    const uint64_t *end = nullptr;
    uint32_t cpu = 0;
    uint64_t decoded = 0;         // records of any kind seen in this payload
    uint64_t unknown_kind = 0;    // records skipped by their length
    uint64_t malformed_words = 0; // words at the end that do not form a complete record
    uint64_t last_ticks = 0;      // of the record before the next one
    uint64_t steps = 0;           // of the last block, by bitwise or: ticks from record to record
    bool goes_back = false;       // the clock, somewhere in or before this payload
    // Offset of the address to prefetch (LookAhead) from the address of a word; 0 if unknown.
    uintptr_t ahead_bytes = 0;
};

using Payload = std::span<const uint64_t>; // payloads consist of whole words

struct Format {
    uint32_t version;
    size_t chunk_header_bytes;
    uint32_t max_payload_bytes;
    bool has_records_in_place; // payloads have the records of <nslice/record.h>, see record_at.hpp

    // Each returns false if the bytes are malformed; what was decoded before is kept.
    bool (*decode_chunk_header)(const std::byte *bytes, ChunkHeader &header);
    bool (*decode_info)(Payload payload, Info &info);
    bool (*decode_sites)(Payload payload, std::vector<Site> &sites);
    bool (*decode_calibration)(Payload payload, Calibration &calibration);
    bool (*decode_epochs)(Payload payload, std::vector<Epoch> &epochs);
    bool (*decode_footer)(Payload payload, Footer &footer);
    bool (*decode_kernel_calibration)(Payload payload, KernelCalibration &calibration);
    bool (*decode_kernel_totals)(Payload payload, KernelTotals &totals);
    // Fills up to `max` events and returns their number; 0 at the end of the payload.
    size_t (*decode_records)(RecordCursor &cursor, Event *events, size_t max);
};

extern const Format kFormatV1;

// The format of a version; nullptr if this reader does not know it.
const Format *find_format(uint32_t version);
inline constexpr uint32_t kNewestVersion = NSLICE_FILE_VERSION;
} // namespace nsdump
