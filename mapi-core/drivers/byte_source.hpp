// SPDX-License-Identifier: MIT
// Byte source: where a capture's bytes come from: a file, or what a compressed file unpacks to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace mapi::drivers
{
class ByteSource
{
public:
    virtual ~ByteSource() = default;

    // At most `room` bytes, 0 at the end.  Throws CaptureError where nothing more can be had; what came before is whole.
    virtual size_t read(uint8_t *to, size_t room) = 0;
    // Back to the first byte; false when the source cannot.
    virtual bool rewind() = 0;
    // Any thread: a read() that waits, now or later, throws CaptureError.
    virtual void interrupt() = 0;

    // Whether more than rest_bytes() can still come.
    virtual bool is_open_ended() const = 0;
    // Bytes of the file that were not read yet, as far as the file system tells.
    virtual uint64_t rest_bytes() const = 0;
    // What an offset counts, where that is not the file's own bytes: the end of "offset 7".
    virtual const char *offset_remark() const { return ""; }
};
} // namespace mapi::drivers
