// SPDX-License-Identifier: MIT
// decode: a file -> header, metadata, places of each CPU's chunks, and damage; picks the version.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "decode/chunk_walker.hpp"
#include "decode/damage.hpp"
#include "decode/format.hpp"
#include "decode/metadata_sequence.hpp"
#include "decode/names.hpp"
#include "decode/offsets.hpp"
#include "decode/source/bytes.hpp"
#include "decode/trace_parts.hpp"

namespace nsdump
{
// What the chunk headers contain about one CPU, for the programs' records or the kernel's.
struct CpuChunks {
    bool is_kernel = false;
    uint32_t cpu = 0;
    Offsets offsets; // of its chunks
    uint64_t chunks = 0;
    uint64_t records = 0;
    uint64_t missing_chunks = 0;   // gaps in the sequence
    uint64_t misplaced_chunks = 0; // repeated or out of sequence
    uint64_t next_sequence = 0;
    uint64_t lost_before = 0;     // of the last chunk
    uint64_t left_out_before = 0; // of the last chunk: of all CPUs
    uint64_t first_ticks = 0;     // of the first chunk
    uint64_t latest_ticks = 0;    // the latest time at which a chunk begins
    uint64_t early_chunks = 0;    // those that begin before one in front of them

    std::string title() const
    {
        return (is_kernel ? "kernel, cpu " : "cpu ") + std::to_string(cpu);
    }
};

// Reads all chunk headers and the metadata when constructed, which is cheap (one header per chunk).
// Records are read by CpuStream.
class TraceFile
{
public:
    explicit TraceFile(const std::string &path) : TraceFile(open_file(path)) {}
    explicit TraceFile(std::unique_ptr<ByteSource> source);

    ByteSource &source() const { return *source_; }
    const Format &format() const { return *format_; }
    const FileHeader &header() const { return header_; }
    const Info &info() const { return info_; }
    // Value of an INFO key; empty if the trace does not have it.
    std::string info(const std::string &key) const;
    const std::vector<std::string> &counter_names() const { return counter_names_; }
    // Counters of the kernel's START and STOP.
    const std::vector<std::string> &kernel_counter_names() const { return kernel_counter_names_; }
    NameTable &names() { return names_; }
    const NameTable &names() const { return names_; }
    const std::vector<Calibration> &calibrations() const { return calibrations_; }
    // In file order.
    const std::vector<Epoch> &epochs() const { return epochs_; }
    // Chunks of epochs that are malformed, or were skipped to limit memory.
    uint64_t lost_epoch_chunks() const { return lost_epoch_chunks_; }
    const std::optional<Footer> &footer() const { return footer_; }
    const std::vector<KernelCalibration> &kernel_calibrations() const
    {
        return kernel_calibrations_;
    }
    const std::optional<KernelTotals> &kernel_totals() const { return kernel_totals_; }
    const std::vector<CpuChunks> &cpus() const { return cpus_; } // programs by cpu, then the kernel
    bool has_kernel() const { return !cpus_.empty() && cpus_.back().is_kernel; }
    // For each place in cpus(), the place of the kernel's ring of the same CPU, or its own if there
    // is none.  Empty without kernel records.
    std::vector<uint32_t> kernel_indices() const;
    // Records of this ring that were lost after its last chunk; 0 if unknown.
    uint64_t lost_at_end(const CpuChunks &chunks) const;
    DamageLog &damage() { return damage_; }
    const DamageLog &damage() const { return damage_; }
    uint64_t missing_chunks() const;
    uint64_t unknown_chunks() const { return unknown_chunks_; }
    // Valid calibrations that were skipped to limit the memory of a trace.
    uint64_t skipped_calibrations() const { return skipped_calibrations_; }
    uint64_t metadata_faults() const { return metadata_faults_; }
    // Missing metadata chunks, as far as their sequence and the footer show.
    const MetadataSequence &metadata() const { return metadata_; }
    // The trace has records of a program but no START calibration, which every session writes (an
    // empty one if calibration is off).
    bool lacks_start_calibration() const;
    uint64_t chunks_after_footer() const { return chunks_after_footer_; }
    bool is_header_damaged() const { return is_header_damaged_; }

private:
    void read_header();
    void scan();
    void read_metadata(ChunkWalker &walker, const Chunk &chunk);
    bool decode_metadata(uint16_t kind);
    bool take_sites(bool is_kernel);
    bool take_epochs();
    ChunkCounts reported_chunks();
    template <class One> void keep_calibration(std::vector<One> &all, One one);
    std::vector<std::string> counter_names_of(const char *key);
    bool note_records(const Chunk &chunk);

    std::unique_ptr<ByteSource> source_;
    const Format *format_ = nullptr;
    FileHeader header_;
    Info info_;
    std::vector<std::string> counter_names_;
    std::vector<std::string> kernel_counter_names_;
    NameTable names_;
    std::vector<Calibration> calibrations_;
    size_t calibration_entries_ = 0;
    uint64_t skipped_calibrations_ = 0;
    std::vector<KernelCalibration> kernel_calibrations_;
    std::vector<Epoch> epochs_;
    size_t epoch_ids_ = 0; // in all of them
    uint64_t lost_epoch_chunks_ = 0;
    std::optional<Footer> footer_;
    std::optional<KernelTotals> kernel_totals_;
    std::vector<CpuChunks> cpus_;
    std::map<std::pair<bool, uint32_t>, size_t> cpu_places_; // places in unsorted cpus_
    DamageLog damage_;
    MetadataSequence metadata_;
    uint64_t unknown_chunks_ = 0;
    uint64_t metadata_faults_ = 0; // chunks with correct checksums and malformed contents
    uint64_t chunks_after_footer_ = 0;
    bool is_header_damaged_ = false;
    std::vector<uint64_t> payload_;
};
} // namespace nsdump
