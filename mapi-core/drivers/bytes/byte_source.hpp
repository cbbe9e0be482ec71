// SPDX-License-Identifier: MIT
// Byte source: the source of a capture's bytes: a file, or the unpacked content of a compressed
// file.
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

    // At most `room` bytes, 0 at the end.  Throws CaptureError where nothing more can be read;
    // everything before is intact.
    virtual size_t read(uint8_t *to, size_t room) = 0;
    // Back to the first byte; false if the source cannot rewind.
    virtual bool rewind() = 0;
    // Any thread: a current or future read() that waits throws CaptureError.
    virtual void interrupt() = 0;

    // If it has offsets, read_at() reads at any of them without moving read()'s position, and may
    // be called by many threads.
    virtual bool has_offsets() const { return false; }
    virtual size_t read_at(uint64_t, uint8_t *, size_t) { return 0; }
    // Sets the position of the next read().
    virtual void skip_to(uint64_t) {}

    // Whether more than rest_bytes() may follow.
    virtual bool is_open_ended() const = 0;
    // Bytes of the file that were not read yet, as far as the file system knows.
    virtual uint64_t rest_bytes() const = 0;
    // For offsets that do not refer to the file's own bytes: text that follows "offset 7".
    virtual const char *offset_remark() const { return ""; }
};
} // namespace mapi::drivers
