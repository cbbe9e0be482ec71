// SPDX-License-Identifier: MIT
// decode: bytes of file version 1 -> chunk headers, metadata, events.
#include "decode/format.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <string_view>

#include "common/crc32c/crc32c.h"
#include "decode/record_at.hpp"

namespace nsdump
{
namespace
{
constexpr size_t kMaxInfoKeys = 4096; // a hostile file must not exhaust memory

bool decode_chunk_header(const std::byte *bytes, ChunkHeader &header)
{
    nslice_chunk_header raw;
    std::memcpy(&raw, bytes, sizeof raw);
    if (raw.magic != NSLICE_CHUNK_MAGIC || raw.header_bytes != sizeof raw ||
        raw.payload_bytes % NSLICE_WORD_BYTES != 0 ||
        raw.payload_bytes > NSLICE_MAX_PAYLOAD_BYTES ||
        raw.header_crc32c != nslice_crc32c(bytes, offsetof(nslice_chunk_header, header_crc32c)))
        return false;
    header.kind = raw.kind;
    header.payload_bytes = raw.payload_bytes;
    header.payload_crc32c = raw.payload_crc32c;
    header.sequence = raw.sequence;
    header.cpu = raw.cpu;
    header.records = raw.records;
    header.lost_before = raw.lost_before;
    header.left_out_before = raw.left_out_before;
    header.first_ticks = raw.first_ticks;
    return true;
}

std::string_view text_of(Payload payload)
{
    return {reinterpret_cast<const char *>(payload.data()), payload.size_bytes()};
}

bool decode_info(Payload payload, Info &info)
{
    std::string_view text = text_of(payload);
    if (const auto zero = text.find('\0'); zero != text.npos)
        text = text.substr(0, zero);
    bool good = true;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
        const auto equals = line.find('=');
        if (equals == line.npos || equals == 0) {
            good = good && line.empty();
            continue;
        }
        const std::string key{line.substr(0, equals)};
        if (info.size() < kMaxInfoKeys || info.contains(key))
            info[key] = std::string{line.substr(equals + 1)};
        else
            good = false;
    }
    return good;
}

// Takes a string of `bytes`, including its terminator, from the start of `text` and advances
// `text`.
bool take_string(std::string_view &text, size_t bytes, std::string &out)
{
    if (bytes == 0 || bytes > text.size() || text[bytes - 1] != '\0')
        return false;
    out.assign(text.substr(0, bytes - 1));
    text.remove_prefix(bytes);
    return out.find('\0') == out.npos;
}

bool decode_sites(Payload payload, std::vector<Site> &sites)
{
    std::string_view text = text_of(payload);
    while (!text.empty()) {
        nslice_file_site raw;
        if (text.size() < sizeof raw)
            return false;
        std::memcpy(&raw, text.data(), sizeof raw);
        if (raw.name_bytes == 0) // zero padding of the chunk
            return text.find_first_not_of('\0') == text.npos;
        const size_t whole = sizeof raw + (raw.name_bytes + size_t{raw.file_bytes} + 7) / 8 * 8;
        if (whole > text.size())
            return false;
        std::string_view strings = text.substr(sizeof raw, whole - sizeof raw);
        Site site;
        site.slice_id = raw.slice_id;
        site.kind = raw.kind;
        site.flags = raw.flags;
        site.line = raw.line;
        site.pid = raw.pid;
        if (!take_string(strings, raw.name_bytes, site.name))
            return false;
        if (raw.file_bytes > 0 && !take_string(strings, raw.file_bytes, site.file))
            return false;
        sites.push_back(std::move(site));
        text.remove_prefix(whole);
    }
    return true;
}

// Takes the structure at a payload's start; false if the rest is too short for the entries it
// declares.
template <class Head>
bool take_head(Payload payload, Head &head, __u32 Head::*entries, size_t entry_bytes,
               std::string_view &rest)
{
    rest = text_of(payload);
    if (rest.size() < sizeof head)
        return false;
    std::memcpy(&head, rest.data(), sizeof head);
    rest.remove_prefix(sizeof head);
    return head.*entries <= rest.size() / entry_bytes;
}

bool is_phase(uint32_t phase)
{
    return phase == NSLICE_CALIBRATION_START || phase == NSLICE_CALIBRATION_END;
}

template <class Entry> std::vector<Entry> copy_of(std::string_view text, size_t count)
{
    std::vector<Entry> entries(count);
    if (count > 0)
        std::memcpy(entries.data(), text.data(), count * sizeof(Entry));
    return entries;
}

bool decode_calibration(Payload payload, Calibration &calibration)
{
    nslice_file_calibration raw;
    std::string_view rest;
    if (!take_head(payload, raw, &nslice_file_calibration::entries,
                   sizeof(nslice_calibration_entry), rest) ||
        !is_phase(raw.phase))
        return false;
    calibration.phase = raw.phase;
    calibration.ticks = raw.ticks;
    calibration.mono_ns = raw.mono_ns;
    calibration.clock_step_ticks = raw.clock_step_ticks;
    calibration.clock_read_ticks = raw.clock_read_ticks;
    calibration.pid = raw.pid;
    calibration.entries = copy_of<nslice_calibration_entry>(rest, raw.entries);
    return true;
}

// Ascending, and all of a process or all of the kernel.
bool are_ids_of(const std::vector<uint16_t> &ids, bool is_kernel)
{
    if (std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) != ids.end())
        return false;
    return ids.empty() || (is_kernel ? ids.front() >= NSLICE_KERNEL_FIRST_ID
                                     : ids.back() < NSLICE_KERNEL_FIRST_ID);
}

bool decode_epochs(Payload payload, std::vector<Epoch> &epochs)
{
    std::string_view text = text_of(payload);
    while (!text.empty()) {
        nslice_file_epoch raw;
        if (text.size() < sizeof raw)
            return false;
        std::memcpy(&raw, text.data(), sizeof raw);
        text.remove_prefix(sizeof raw);
        const size_t whole = (size_t{raw.ids} * sizeof(uint16_t) + 7) / 8 * 8;
        if (whole > text.size() || raw.begin_ticks > raw.end_ticks)
            return false;
        Epoch epoch{raw.pid, raw.begin_ticks, raw.end_ticks, copy_of<uint16_t>(text, raw.ids)};
        if (!are_ids_of(epoch.off, epoch.pid == NSLICE_EPOCH_OF_KERNEL))
            return false;
        epochs.push_back(std::move(epoch));
        text.remove_prefix(whole);
    }
    return true;
}

std::vector<FooterCpu> rows_of(std::string_view text, size_t count)
{
    std::vector<FooterCpu> rows;
    for (const nslice_file_footer_cpu &row : copy_of<nslice_file_footer_cpu>(text, count)) {
        rows.push_back({row.cpu, row.chunks, row.issued, row.drained, {}});
        std::memcpy(rows.back().lost.data(), row.lost, sizeof row.lost);
    }
    return rows;
}

bool decode_footer(Payload payload, Footer &footer)
{
    nslice_file_footer raw;
    std::string_view rest;
    if (!take_head(payload, raw, &nslice_file_footer::cpus, sizeof(nslice_file_footer_cpu), rest))
        return false;
    footer.end = raw.end;
    footer.ticks = raw.ticks;
    footer.mono_ns = raw.mono_ns;
    footer.end_calibration_offset = raw.end_calibration_offset;
    footer.dropped_sites = raw.dropped_sites;
    footer.tells_chunks = raw.info_chunks > 0;
    if (footer.tells_chunks) {
        footer.chunks[NSLICE_CHUNK_INFO] = raw.info_chunks;
        footer.chunks[NSLICE_CHUNK_SITES] = raw.site_chunks;
        footer.chunks[NSLICE_CHUNK_CALIBRATION] = raw.calibration_chunks;
        footer.chunks[NSLICE_CHUNK_KERNEL_TOTALS] = raw.kernel_totals_chunks;
        footer.chunks[NSLICE_CHUNK_KERNEL_CALIBRATION] = raw.kernel_calibration_chunks;
        footer.chunks[NSLICE_CHUNK_KERNEL_SITES] = raw.kernel_site_chunks;
    }
    footer.cpus = rows_of(rest, raw.cpus);
    return true;
}

bool decode_kernel_totals(Payload payload, KernelTotals &totals)
{
    nslice_file_kernel_totals raw;
    std::string_view rest;
    if (!take_head(payload, raw, &nslice_file_kernel_totals::cpus, sizeof(nslice_file_footer_cpu),
                   rest))
        return false;
    totals.unnamed_sites = raw.unnamed_sites;
    totals.cpus = rows_of(rest, raw.cpus);
    return true;
}

bool decode_kernel_calibration(Payload payload, KernelCalibration &calibration)
{
    nslice_file_kernel_calibration raw;
    std::string_view rest;
    if (!take_head(payload, raw, &nslice_file_kernel_calibration::entries,
                   sizeof(nslice_kernel_calibration_entry), rest) ||
        !is_phase(raw.phase))
        return false;
    calibration.phase = raw.phase;
    calibration.ticks = raw.ticks;
    calibration.mono_ns = raw.mono_ns;
    calibration.entries = copy_of<nslice_kernel_calibration_entry>(rest, raw.entries);
    return true;
}

typedef uint64_t Head __attribute__((vector_size(sizeof(nslice_record_head))));

Head head_at(const void *record)
{
    Head head;
    std::memcpy(&head, record, sizeof head);
    return head;
}

// Decodes up to `most` records from cursor.at on that are of a known kind and have `words` words
// each; returns their number.  The place of the next one does not depend on what was read, so that
// several are decoded at the same time.
size_t decode_alike(RecordCursor &cursor, uint64_t words, Event *events, size_t most)
{
    const size_t record_words = NSLICE_HEAD_WORDS + words;
    const uint64_t first_kind = words << 8 | NSLICE_KIND_START; // with the number of words
    const uint64_t *at = cursor.at;
    const uint32_t cpu = cursor.cpu;
    uint64_t last_ticks = cursor.last_ticks, steps = 0;
    size_t count = 0;
    for (; count < most; ++count, at += record_words) {
        if ((at[1] >> NSLICE_HEAD_KIND_SHIFT) - first_kind > NSLICE_KIND_EXIT - NSLICE_KIND_START)
            [[unlikely]]
            break;
        const Head head = head_at(at);
        Event &event = events[count];
        std::memcpy(static_cast<void *>(&event), &head, sizeof head);
        event.words = at + NSLICE_HEAD_WORDS;
        event.cpu = cpu;
        steps |= head[0] - last_ticks;
        last_ticks = head[0];
    }
    cursor.at = at;
    cursor.last_ticks = last_ticks;
    cursor.steps |= steps;
    return count;
}

size_t decode_records(RecordCursor &cursor, Event *events, size_t max)
{
    size_t count = 0;
    uint64_t unknown_kind = 0;
    cursor.steps = 0;
    while (count < max) {
        const size_t record_words = record_words_at(cursor.at, cursor.end);
        if (record_words == 0) [[unlikely]]
            break;
        const size_t left = size_t(cursor.end - cursor.at) / record_words;
        const size_t alike = decode_alike(cursor, record_words - NSLICE_HEAD_WORDS, events + count,
                                          std::min(max - count, left));
        count += alike;
        if (alike == 0) {
            ++unknown_kind;
            cursor.at += record_words;
        }
    }
    cursor.decoded += count + unknown_kind;
    cursor.unknown_kind += unknown_kind;
    if (count < max && cursor.at < cursor.end) { // the loop stopped at a malformed record
        cursor.malformed_words += uint64_t(cursor.end - cursor.at);
        cursor.at = cursor.end;
    }
    return count;
}
} // namespace

const Format kFormatV1 = {
    .version = 1,
    .chunk_header_bytes = sizeof(nslice_chunk_header),
    .max_payload_bytes = NSLICE_MAX_PAYLOAD_BYTES,
    .has_records_in_place = true,
    .decode_chunk_header = decode_chunk_header,
    .decode_info = decode_info,
    .decode_sites = decode_sites,
    .decode_calibration = decode_calibration,
    .decode_epochs = decode_epochs,
    .decode_footer = decode_footer,
    .decode_kernel_calibration = decode_kernel_calibration,
    .decode_kernel_totals = decode_kernel_totals,
    .decode_records = decode_records,
};
} // namespace nsdump
