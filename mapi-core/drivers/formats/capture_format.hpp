// SPDX-License-Identifier: MIT
// Capture format: bytes of a capture file -> packet views.  One implementation per format.
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include <mapi/driver.h>

#include "drivers/bytes/file_buffer.hpp"
#include "drivers/finish_batch.hpp"
#include "drivers/formats/odd_lengths.hpp"

namespace mapi::drivers
{
class CaptureFormat
{
public:
    virtual ~CaptureFormat() = default;

    // At most `limit` packets, 0 at the end of the file.  Never refills the buffer once the batch
    // has a packet, since that would move the bytes that its views point to.  Throws CaptureError
    // at damage, but only with an empty batch: packets before the damage are delivered first.  With
    // a held buffer, returns only packets that are complete in it and never throws: 0 does not mean
    // the end then.
    virtual uint32_t read(FileBuffer &file, mapi_packet *packets, uint32_t limit,
                          mapi_batch &batch) = 0;
    virtual uint64_t interface_drops() const { return 0; }
    // A description of odd records that did not stop the reading; empty if there were none.
    virtual std::string message() const { return odd_lengths_.message(); }

    const mapi_driver_info &info() const { return info_; }

protected:
    mapi_driver_info info_ = {};
    OddLengths odd_lengths_;
};

// Examines the first bytes; throws CaptureError if they are neither pcap nor pcapng.
std::unique_ptr<CaptureFormat> open_capture_format(FileBuffer &file);
// Throws CaptureError if the first records are not valid ERF, which cannot be distinguished from
// other formats with certainty.
std::unique_ptr<CaptureFormat> open_erf(FileBuffer &file);
std::unique_ptr<CaptureFormat> open_pcap(FileBuffer &file);   // null if it is another format
std::unique_ptr<CaptureFormat> open_pcapng(FileBuffer &file); // null if it is another format

// Numbers in a capture file have the byte order of the machine that wrote it and are not aligned.
template <bool kSwapped> inline uint32_t load_u32(const uint8_t *bytes)
{
    uint32_t value;
    memcpy(&value, bytes, sizeof(value));
    return kSwapped ? __builtin_bswap32(value) : value;
}

template <bool kSwapped> inline uint16_t load_u16(const uint8_t *bytes)
{
    uint16_t value;
    memcpy(&value, bytes, sizeof(value));
    return kSwapped ? __builtin_bswap16(value) : value;
}

template <bool kSwapped> inline uint64_t load_u64(const uint8_t *bytes)
{
    uint64_t value;
    memcpy(&value, bytes, sizeof(value));
    return kSwapped ? __builtin_bswap64(value) : value;
}
} // namespace mapi::drivers
