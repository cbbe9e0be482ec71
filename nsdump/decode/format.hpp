// SPDX-License-Identifier: MIT
// decode: one table of functions for each file version; everything that differs between versions is behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "decode/event.hpp"
#include "decode/trace_parts.hpp"

namespace nsdump
{
// The part of a checked payload that is not decoded yet.
struct RecordCursor {
    const std::uint64_t *at = nullptr;
    const std::uint64_t *end = nullptr;
    std::uint32_t cpu = 0;
    std::uint64_t decoded = 0;      // records seen in this payload, of any kind
    std::uint64_t unknown_kind = 0; // skipped by their length
    std::uint64_t malformed_units = 0; // 8-byte units at the end that make no whole record
};

using Payload = std::span<const std::uint64_t>; // payloads are whole 8-byte units

struct Format {
    std::uint32_t version;
    std::size_t chunk_header_bytes;
    std::uint32_t max_payload_bytes;

    // Each returns false when the bytes are not what they should be; what was decoded before stays.
    bool (*decode_chunk_header)(const std::byte *bytes, ChunkHeader &header);
    bool (*decode_info)(Payload payload, Info &info);
    bool (*decode_sites)(Payload payload, std::vector<Site> &sites);
    bool (*decode_calibration)(Payload payload, Calibration &calibration);
    bool (*decode_footer)(Payload payload, Footer &footer);
    bool (*decode_kernel_calibration)(Payload payload, KernelCalibration &calibration);
    bool (*decode_kernel_totals)(Payload payload, KernelTotals &totals);
    // Fills up to `max` events and returns how many; 0 when the payload is used up.
    std::size_t (*decode_records)(RecordCursor &cursor, Event *events, std::size_t max);
};

extern const Format kFormatV1;

// The format of a version, nullptr for one that this reader does not know.
const Format *find_format(std::uint32_t version);
inline constexpr std::uint32_t kNewestVersion = NSLICE_FILE_VERSION;
} // namespace nsdump
