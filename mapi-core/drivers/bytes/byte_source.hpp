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

    // Where it has offsets: read_at() is read() at any of them, leaves read()'s place alone, and is for any thread, many at a time.
    virtual bool has_offsets() const { return false; }
    virtual size_t read_at(uint64_t, uint8_t *, size_t) { return 0; }
    // What read() gives next.
    virtual void skip_to(uint64_t) {}

    // Whether more than rest_bytes() can still come.
    virtual bool is_open_ended() const = 0;
    // Bytes of the file that were not read yet, as far as the file system tells.
    virtual uint64_t rest_bytes() const = 0;
    // What an offset counts, where that is not the file's own bytes: the end of "offset 7".
    virtual const char *offset_remark() const { return ""; }
};
} // namespace mapi::drivers
