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
// Since a total was `before`.  That of a damaged or hostile trace may be smaller afterwards.
constexpr uint64_t growth(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

struct FileHeader {
    uint32_t version = 0;
    uint32_t header_bytes = 0;
    uint64_t created_unix_ns = 0;
    std::array<uint8_t, 16> session_uuid{};
};

struct ChunkHeader {
    uint16_t kind = 0; // enum nslice_chunk_kind, or a kind unknown to this reader
    uint32_t payload_bytes = 0;
    uint32_t payload_crc32c = 0;
    uint64_t sequence = 0;
    uint32_t cpu = 0;
    uint32_t records = 0;
    uint64_t lost_before = 0;
    uint64_t left_out_before = 0; // of all CPUs: the recorder had paused
    uint64_t first_ticks = 0;
};

struct Site {
    uint16_t slice_id = 0;
    uint8_t kind = 0;
    uint32_t line = 0;
    std::string name;
    std::string file;
    uint8_t flags = 0; // NSLICE_SITE_*, kernel sites only
    uint32_t pid = 0;  // process that first announced it
};

// A span of time in which the same probes of a process were on.
struct Epoch {
    uint32_t pid = 0; // NSLICE_EPOCH_OF_KERNEL: of BPF programs
    uint64_t begin_ticks = 0;
    uint64_t end_ticks = 0;
    std::vector<uint16_t> off; // ids of slices and marks, ascending
};

struct Calibration {
    uint32_t phase = 0; // enum nslice_calibration_phase
    uint64_t ticks = 0;
    uint64_t mono_ns = 0;
    double clock_step_ticks = 0;
    double clock_read_ticks = 0;
    uint32_t pid = 0;
    std::vector<nslice_calibration_entry> entries;
};

// The cost of the kernel's probes, and when it was measured.
struct KernelCalibration {
    uint32_t phase = 0; // enum nslice_calibration_phase
    uint64_t ticks = 0;
    uint64_t mono_ns = 0;
    std::vector<nslice_kernel_calibration_entry> entries;
};

struct FooterCpu {
    uint32_t cpu = 0;
    uint64_t chunks = 0;
    uint64_t issued = 0;
    uint64_t drained = 0;
    std::array<uint64_t, 8> lost{}; // by enum nslice_lost
};

struct Footer {
    uint32_t end = 0; // enum nslice_end
    uint64_t ticks = 0;
    uint64_t mono_ns = 0;
    uint64_t end_calibration_offset = 0;
    uint64_t dropped_sites = 0;
    ChunkCounts chunks{}; // of all kinds except records; 0 if not given
    bool tells_chunks = false;
    std::vector<FooterCpu> cpus;
};

// The kernel's side of the loss equation.
struct KernelTotals {
    uint64_t unnamed_sites = 0;
    std::vector<FooterCpu> cpus;
};

using Info = std::map<std::string, std::string>;
} // namespace nsdump
