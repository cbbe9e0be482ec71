// SPDX-License-Identifier: MIT
// Capture format: bytes of a capture file -> packet views.  One implementation for each format.
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

    // At most `limit` packets, 0 at the end of the file.  Never refills the buffer once the batch has a packet, since that
    // would move the bytes under it.  Throws CaptureError at damage, but only with an empty batch: what was whole before
    // the damage is handed out first.  Of a buffer that is held, the packets that are whole in it, and no error: 0 says nothing then.
    virtual uint32_t read(FileBuffer &file, mapi_packet *packets, uint32_t limit,
                          mapi_batch &batch) = 0;
    virtual uint64_t interface_drops() const { return 0; }
    // Something odd that did not stop the reading; empty when there was nothing.
    virtual std::string remark() const { return odd_lengths_.remark(); }

    const mapi_driver_info &info() const { return info_; }

protected:
    mapi_driver_info info_ = {};
    OddLengths odd_lengths_;
};

// Looks at the first bytes; throws CaptureError when they are neither pcap nor pcapng.
std::unique_ptr<CaptureFormat> open_capture_format(FileBuffer &file);
// Throws CaptureError when the first records are none of ERF, which cannot be told from other formats with certainty.
std::unique_ptr<CaptureFormat> open_erf(FileBuffer &file);
std::unique_ptr<CaptureFormat> open_pcap(FileBuffer &file);   // null: another format
std::unique_ptr<CaptureFormat> open_pcapng(FileBuffer &file); // null: another format

// Numbers in a capture file have the byte order of the machine that wrote it and no alignment.
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
