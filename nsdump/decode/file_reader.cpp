// SPDX-License-Identifier: MIT
// decode: a file -> header, metadata, places of each CPU's chunks, and damage; picks the version.
#include "decode/file_reader.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <numeric>
#include <sstream>

#include <fmt/format.h>

#include "common/crc32c/crc32c.h"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
// Limits against hostile files; far above those of a real session.
constexpr size_t kMaxCpus = 8192;
constexpr size_t kMaxCalibrations = 4096;
constexpr size_t kMaxCalibrationEntries = 1 << 18;
constexpr size_t kMaxEpochs = 1 << 20;
constexpr size_t kMaxEpochIds = 1 << 25;

std::vector<std::string> split_names(const std::string &text)
{
    std::vector<std::string> names;
    std::istringstream stream(text);
    for (std::string name; std::getline(stream, name, ',');)
        names.push_back(name);
    return names;
}
} // namespace

TraceFile::TraceFile(std::unique_ptr<ByteSource> source) : source_(std::move(source))
{
    read_header();
    scan();
    if (footer_)
        metadata_.take_reported(reported_chunks());
    counter_names_ = counter_names_of("counters.names");
    kernel_counter_names_ = counter_names_of("kernel.counters.names");
    std::sort(cpus_.begin(), cpus_.end(), [](const CpuChunks &a, const CpuChunks &b) {
        return a.is_kernel != b.is_kernel ? b.is_kernel : a.cpu < b.cpu;
    });
}

// The footer has no place for the number of EPOCHS chunks; an INFO chunk before it has.
ChunkCounts TraceFile::reported_chunks()
{
    ChunkCounts counts = footer_->chunks;
    const std::string epochs = info("session.epoch_chunks");
    uint64_t number = 0;
    const auto [end, error] = std::from_chars(epochs.data(), epochs.data() + epochs.size(), number);
    if (error == std::errc() && number <= std::numeric_limits<uint32_t>::max())
        counts[NSLICE_CHUNK_EPOCHS] = number;
    else
        metadata_faults_ += !epochs.empty();
    return counts;
}

std::vector<std::string> TraceFile::counter_names_of(const char *key)
{
    std::vector<std::string> names = split_names(info(key));
    if (names.size() <= NSLICE_MAX_COUNTERS)
        return names;
    ++metadata_faults_; // records cannot carry that many; no names are better than wrong ones
    return {};
}

std::string TraceFile::info(const std::string &key) const
{
    const auto found = info_.find(key);
    return found == info_.end() ? std::string{} : found->second;
}

uint64_t TraceFile::missing_chunks() const
{
    uint64_t missing = 0;
    for (const CpuChunks &cpu : cpus_)
        missing += cpu.missing_chunks;
    return missing;
}

bool TraceFile::lacks_start_calibration() const
{
    const bool has_programs = !cpus_.empty() && !cpus_.front().is_kernel;
    return has_programs && std::none_of(calibrations_.begin(), calibrations_.end(),
                                        [](const Calibration &calibration) {
                                            return calibration.phase == NSLICE_CALIBRATION_START;
                                        });
}

std::vector<uint32_t> TraceFile::kernel_indices() const
{
    std::vector<uint32_t> indices;
    for (uint32_t place = 0; place < cpus_.size() && has_kernel(); ++place) {
        const auto found = std::find_if(cpus_.begin(), cpus_.end(), [&](const CpuChunks &other) {
            return other.is_kernel && other.cpu == cpus_[place].cpu;
        });
        indices.push_back(found == cpus_.end() ? place : uint32_t(found - cpus_.begin()));
    }
    return indices;
}

// Excludes those that came after the ring was closed, when the recording was over.
uint64_t TraceFile::lost_at_end(const CpuChunks &chunks) const
{
    const std::vector<FooterCpu> *rows = chunks.is_kernel
                                             ? (kernel_totals_ ? &kernel_totals_->cpus : nullptr)
                                             : (footer_ ? &footer_->cpus : nullptr);
    for (size_t i = 0; rows && i < rows->size(); ++i) {
        const FooterCpu &row = (*rows)[i];
        if (row.cpu != chunks.cpu)
            continue;
        const uint64_t lost = std::accumulate(row.lost.begin(), row.lost.end(), uint64_t{0}) -
                              row.lost[NSLICE_LOST_CLOSED];
        return lost > chunks.lost_before ? lost - chunks.lost_before : 0;
    }
    return 0;
}

void TraceFile::read_header()
{
    const std::string &name = source_->name();
    nslice_file_header raw;
    const size_t got = source_->read_at(0, &raw, sizeof raw);
    if (got == 0)
        throw TraceError(
            fmt::format("{}: the file is empty: nothing was recorded (record it again)", name));
    if (got < sizeof raw.magic || std::memcmp(raw.magic, NSLICE_FILE_MAGIC, sizeof raw.magic) != 0)
        throw TraceError(
            fmt::format("{}: at byte 0: not a NetSlice trace: does not begin with \"{}\" (specify "
                        "a file that `nsdump record` or a session wrote)",
                        name, NSLICE_FILE_MAGIC));
    if (got < sizeof raw)
        throw TraceError(fmt::format(
            "{}: at byte {}: truncated inside its header (record it again)", name, got));
    is_header_damaged_ =
        raw.header_crc32c != nslice_crc32c(&raw, offsetof(nslice_file_header, header_crc32c));
    if (raw.byte_order == __builtin_bswap32(NSLICE_FILE_BYTE_ORDER))
        throw TraceError(
            fmt::format("{}: at byte 16: written on a machine with the opposite byte order "
                        "(read it there, e.g. with `nsdump export`)",
                        name));
    format_ = find_format(raw.version);
    if (!format_ && !is_header_damaged_)
        throw TraceError(
            fmt::format("{}: at byte 8: file version {}, but this nsdump reads up to {} (use a "
                        "newer nsdump)",
                        name, raw.version, kNewestVersion));
    if (is_header_damaged_) {
        // Every chunk has its own checksum, so try the newest version; chunks that it accepts are
        // valid.
        damage_.add(0, sizeof raw, "wrong file header checksum");
        if (!format_)
            format_ = find_format(kNewestVersion);
        raw.header_bytes = sizeof raw;
    }
    if (raw.header_bytes < sizeof raw || raw.header_bytes % 8 != 0)
        throw TraceError(
            fmt::format("{}: at byte 12: malformed header length of {} bytes (record it again)",
                        name, raw.header_bytes));
    header_.version = raw.version;
    header_.header_bytes = raw.header_bytes;
    header_.created_unix_ns = raw.created_unix_ns;
    std::memcpy(header_.session_uuid.data(), raw.session_uuid, sizeof raw.session_uuid);
}

void TraceFile::scan()
{
    ChunkWalker walker(*source_, *format_, header_.header_bytes, &damage_);
    Chunk chunk;
    while (walker.next(chunk)) {
        if (footer_)
            ++chunks_after_footer_;
        if (chunk.header.kind == NSLICE_CHUNK_RECORDS ||
            chunk.header.kind == NSLICE_CHUNK_KERNEL_RECORDS) {
            if (!note_records(chunk))
                damage_.add(chunk.offset, format_->chunk_header_bytes + chunk.header.payload_bytes,
                            "more CPUs than supported");
        } else {
            read_metadata(walker, chunk);
        }
    }
}

bool TraceFile::note_records(const Chunk &chunk)
{
    const ChunkHeader &header = chunk.header;
    const bool is_kernel = header.kind == NSLICE_CHUNK_KERNEL_RECORDS;
    const auto place = cpu_places_.find({is_kernel, header.cpu});
    if (place == cpu_places_.end()) {
        if (cpus_.size() == kMaxCpus)
            return false;
        cpu_places_[{is_kernel, header.cpu}] = cpus_.size();
        cpus_.emplace_back().is_kernel = is_kernel;
        cpus_.back().cpu = header.cpu;
        cpus_.back().first_ticks = header.first_ticks;
    }
    CpuChunks *const found = place == cpu_places_.end() ? &cpus_.back() : &cpus_[place->second];
    if (header.sequence >= found->next_sequence) {
        found->missing_chunks += header.sequence - found->next_sequence;
        found->next_sequence = header.sequence + 1;
    } else {
        ++found->misplaced_chunks;
    }
    found->offsets.add(chunk.offset);
    found->lost_before = header.lost_before;
    found->left_out_before = header.left_out_before;
    found->early_chunks += header.first_ticks < found->latest_ticks;
    found->latest_ticks = std::max(found->latest_ticks, header.first_ticks);
    found->records += header.records;
    ++found->chunks;
    return true;
}

void TraceFile::read_metadata(ChunkWalker &walker, const Chunk &chunk)
{
    if (!walker.read_payload(chunk, payload_)) {
        damage_.add(chunk.offset, format_->chunk_header_bytes + chunk.header.payload_bytes,
                    "wrong payload checksum");
        return;
    }
    if (chunk.header.kind < NSLICE_CHUNK_INFO || chunk.header.kind >= NSLICE_CHUNK_KINDS)
        ++unknown_chunks_;
    else {
        metadata_.note(chunk.header.kind, chunk.header.sequence);
        metadata_faults_ += !decode_metadata(chunk.header.kind);
    }
}

// Keeps a valid calibration while there is room.
template <class One> void TraceFile::keep_calibration(std::vector<One> &all, One one)
{
    const bool has_room = all.size() < kMaxCalibrations &&
                          calibration_entries_ + one.entries.size() <= kMaxCalibrationEntries;
    skipped_calibrations_ += !has_room;
    if (!has_room)
        return;
    calibration_entries_ += one.entries.size();
    all.push_back(std::move(one));
}

// False if it is malformed.
bool TraceFile::decode_metadata(uint16_t kind)
{
    switch (kind) {
    case NSLICE_CHUNK_INFO: return format_->decode_info(payload_, info_);
    case NSLICE_CHUNK_SITES: return take_sites(false);
    case NSLICE_CHUNK_KERNEL_SITES: return take_sites(true);
    case NSLICE_CHUNK_EPOCHS: return take_epochs();
    case NSLICE_CHUNK_CALIBRATION: {
        Calibration calibration;
        if (!format_->decode_calibration(payload_, calibration))
            return false;
        keep_calibration(calibrations_, std::move(calibration));
        return true;
    }
    case NSLICE_CHUNK_KERNEL_CALIBRATION: {
        KernelCalibration calibration;
        if (!format_->decode_kernel_calibration(payload_, calibration))
            return false;
        keep_calibration(kernel_calibrations_, std::move(calibration));
        return true;
    }
    case NSLICE_CHUNK_KERNEL_TOTALS: {
        KernelTotals totals;
        if (!format_->decode_kernel_totals(payload_, totals))
            return false;
        kernel_totals_ = std::move(totals);
        return true;
    }
    default: {
        Footer footer;
        if (!format_->decode_footer(payload_, footer))
            return false;
        footer_ = std::move(footer);
        return true;
    }
    }
}

bool TraceFile::take_sites(bool is_kernel)
{
    std::vector<Site> sites;
    bool good = format_->decode_sites(payload_, sites);
    for (Site &site : sites) {
        if (is_kernel) {
            good = names_.add_kernel(std::move(site)) && good;
        } else {
            site.flags &= NSLICE_WAY_MASK; // programs do not interrupt each other
            names_.add(site);
        }
    }
    return good;
}

bool TraceFile::take_epochs()
{
    std::vector<Epoch> epochs;
    const bool good = format_->decode_epochs(payload_, epochs);
    bool has_room = true;
    for (Epoch &epoch : epochs) {
        has_room = epochs_.size() < kMaxEpochs && epoch_ids_ + epoch.off.size() <= kMaxEpochIds;
        if (!has_room)
            break;
        epoch_ids_ += epoch.off.size();
        epochs_.push_back(std::move(epoch));
    }
    lost_epoch_chunks_ += !good || !has_room;
    return good;
}
} // namespace nsdump
