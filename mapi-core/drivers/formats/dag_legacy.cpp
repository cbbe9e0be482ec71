// SPDX-License-Identifier: MIT
// DAG legacy: records of 64 bytes that begin with a timestamp as in ERF: ATM cells, Ethernet, or
// packets over SONET.
//
// None of them has a type or a magic number.  If the timestamps of all records are plausible, the
// bytes after them distinguish the formats: Ethernet has a little-endian length and the frame,
// SONET two big-endian lengths of 32 bits, ATM a checksum of any value.
#include "drivers/formats/dag_legacy.hpp"

#include <algorithm>

#include "drivers/capture_error.hpp"
#include "links/erf_record.hpp"

namespace mapi::drivers
{
namespace
{
constexpr size_t kRecordBytes = 64;
constexpr size_t kRecordsLookedAt = 1024;
constexpr size_t kLeastOfCells = 4; // fewer prove nothing, since a cell may contain anything

uint32_t big_half(const uint8_t *at)
{
    return uint32_t(at[0]) << 8 | at[1];
}

uint32_t big_word(const uint8_t *at)
{
    return big_half(at) << 16 | big_half(at + 2);
}

uint32_t little_half(const uint8_t *at)
{
    return uint32_t(at[0]) | uint32_t(at[1]) << 8;
}

// An Ethernet frame whose IPv4 length matches the record's length, including check sequence and
// padding of short frames.
bool is_ethernet_with_ip(const uint8_t *record)
{
    constexpr uint32_t kAround = 14 + 4, kShortest = 64;
    const uint32_t wire_len = little_half(record + 8), reported = big_half(record + 26) + kAround;
    return big_half(record + 22) == 0x0800 && record[24] >> 4 == 4 &&
           (reported == wire_len || (reported < kShortest && wire_len == kShortest));
}

bool is_ethernet(const uint8_t *record)
{
    constexpr uint32_t kShortest = 60, kLongest = 1600;
    const uint32_t wire_len = little_half(record + 8);
    const bool is_group = record[16] & 1; // a source address is never a group address
    return wire_len >= kShortest && wire_len <= kLongest && !is_group;
}

bool is_sonet(const uint8_t *record)
{
    constexpr uint32_t kLongest = 1u << 16;
    const uint32_t record_len = big_word(record + 8), wire_len = big_word(record + 12);
    return record_len == kRecordBytes && wire_len > 0 && wire_len < kLongest;
}

bool is_erf(const uint8_t *record)
{
    const links::ErfRecord erf(record);
    return erf.header_contradiction().empty() && erf.bytes() == kRecordBytes;
}

struct Evidence {
    size_t records = 0;
    size_t ethernet_with_ip = 0;
    size_t ethernet = 0;
    size_t sonet = 0;
    size_t erf = 0; // records that are valid ERF of the same length

    bool most(size_t count) const { return count >= records - records / 8; }
};

// False if the timestamps are not plausible.
bool collect(const uint8_t *data, size_t bytes, Evidence &evidence)
{
    uint32_t seconds = 0;
    for (size_t at = 0; at + kRecordBytes <= bytes; at += kRecordBytes) {
        const uint8_t *const record = data + at;
        const uint32_t now = links::ErfRecord(record).seconds();
        if (now == 0 || links::is_far_from(seconds, now))
            return false;
        seconds = now;
        ++evidence.records;
        evidence.ethernet_with_ip += is_ethernet_with_ip(record);
        evidence.ethernet += is_ethernet(record);
        evidence.sonet += is_sonet(record);
        evidence.erf += is_erf(record);
    }
    return evidence.records > 0;
}

// Null if it is none of them.
const char *name_of(const Evidence &found, ErfLook erf)
{
    if (found.most(found.sonet)) // where ERF has its type there is 0, which is not a type
        return "POS";
    if (found.ethernet_with_ip > found.records / 2)
        return "Ethernet";
    if (erf == ErfLook::kThrough || found.erf > found.records / 2 || found.records < kLeastOfCells)
        return nullptr;
    return found.most(found.ethernet) ? "Ethernet" : "ATM";
}
} // namespace

void refuse_dag_legacy(FileBuffer &file, ErfLook erf, const char *wanted)
{
    if (erf != ErfLook::kThrough)
        file.fill(kLeastOfCells * kRecordBytes); // no more, since a pipe may not have more
    Evidence evidence;
    if (!collect(file.begin(), std::min(file.available(), kRecordsLookedAt * kRecordBytes),
                 evidence))
        return;
    if (const char *const name = name_of(evidence, erf))
        throw CaptureError(Damage::kOpen,
                           file.path() + ": is " + wanted + " but in the legacy " + name +
                               " format of DAG cards, which is unsupported (convert it with "
                               "libtrace's traceconvert; to read ERF, use " +
                               kErfSettings + ")");
}
} // namespace mapi::drivers
