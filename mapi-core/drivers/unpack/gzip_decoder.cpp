// SPDX-License-Identifier: MIT
// gzip: with zlib, which verifies checksums.
#include <new>
#include <stdexcept>

#include <zlib.h>

#include "drivers/unpack/decoder.hpp"

namespace mapi::drivers
{
namespace
{
constexpr uint64_t kMemoryBytes =
    65536;                    // zlib's documentation: a window of 32 KiB and some 7 KiB of tables
constexpr int kGzipOnly = 16; // added to the window bits, which are the maximum for gzip

class GzipDecoder : public Decoder
{
public:
    GzipDecoder()
    {
        if (inflateInit2(&stream_, MAX_WBITS + kGzipOnly) != Z_OK)
            throw std::bad_alloc();
    }
    ~GzipDecoder() override { inflateEnd(&stream_); }
    GzipDecoder(const GzipDecoder &) = delete;
    GzipDecoder &operator=(const GzipDecoder &) = delete;

    bool step(PackedBytes &packed, Room &room) override
    {
        stream_.next_in = const_cast<uint8_t *>(packed.next);
        stream_.avail_in = uInt(packed.bytes());
        stream_.next_out = room.next;
        stream_.avail_out = uInt(room.bytes());
        const int status = inflate(&stream_, Z_NO_FLUSH);
        packed.next = stream_.next_in;
        room.next = stream_.next_out;
        if (status != Z_OK && status != Z_BUF_ERROR && status != Z_STREAM_END)
            throw std::runtime_error(stream_.msg ? stream_.msg : zError(status));
        return status == Z_STREAM_END;
    }

    uint64_t memory_bytes() const override { return kMemoryBytes; }

private:
    z_stream stream_ = {};
};
} // namespace

std::unique_ptr<Decoder> make_gzip_decoder()
{
    return std::make_unique<GzipDecoder>();
}
} // namespace mapi::drivers
