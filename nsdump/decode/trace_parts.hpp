// SPDX-License-Identifier: MIT
// decode: the decoded parts of a trace other than its records, independent of the file version.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <nsprobe/file.h>

#include "decode/metadata_sequence.hpp"

namespace nsdump
{
struct FileHeader {
    std::uint32_t version = 0;
    std::uint32_t header_bytes = 0;
    std::uint64_t created_unix_ns = 0;
    std::array<std::uint8_t, 16> session_uuid{};
};

struct ChunkHeader {
    std::uint16_t kind = 0; // enum nslice_chunk_kind, or a kind unknown to this reader
    std::uint32_t payload_bytes = 0;
    std::uint32_t payload_crc32c = 0;
    std::uint64_t sequence = 0;
    std::uint32_t cpu = 0;
    std::uint32_t records = 0;
    std::uint64_t lost_before = 0;
    std::uint64_t first_ticks = 0;
};

struct Site {
    std::uint16_t slice_id = 0;
    std::uint8_t kind = 0;
    std::uint32_t line = 0;
    std::string name;
    std::string file;
    std::uint8_t flags = 0; // NSLICE_SITE_*, kernel sites only
};

struct Calibration {
    std::uint32_t phase = 0; // enum nslice_calibration_phase
    std::uint64_t ticks = 0;
    std::uint64_t mono_ns = 0;
    double clock_step_ticks = 0;
    double clock_read_ticks = 0;
    std::uint32_t pid = 0;
    std::vector<nslice_calibration_entry> entries;
};

// The cost of the kernel's probes, and when it was measured.
struct KernelCalibration {
    std::uint32_t phase = 0; // enum nslice_calibration_phase
    std::uint64_t ticks = 0;
    std::uint64_t mono_ns = 0;
    std::vector<nslice_kernel_calibration_entry> entries;
};

struct FooterCpu {
    std::uint32_t cpu = 0;
    std::uint64_t chunks = 0;
    std::uint64_t issued = 0;
    std::uint64_t drained = 0;
    std::array<std::uint64_t, 8> lost{}; // by enum nslice_lost
};

struct Footer {
    std::uint32_t end = 0; // enum nslice_end
    std::uint64_t ticks = 0;
    std::uint64_t mono_ns = 0;
    std::uint64_t end_calibration_offset = 0;
    std::uint64_t dropped_sites = 0;
    ChunkCounts chunks{}; // of all kinds except records; 0 if not given
    bool tells_chunks = false;
    std::vector<FooterCpu> cpus;
};

// The kernel's side of the loss equation.
struct KernelTotals {
    std::uint64_t unnamed_sites = 0;
    std::vector<FooterCpu> cpus;
};

using Info = std::map<std::string, std::string>;
} // namespace nsdump
