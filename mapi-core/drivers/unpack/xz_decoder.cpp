// SPDX-License-Identifier: MIT
// xz: with liblzma, which verifies checksums.
#include <new>
#include <stdexcept>

#include <lzma.h>

#include "drivers/unpack/decoder.hpp"

namespace mapi::drivers
{
namespace
{
class XzDecoder : public Decoder
{
public:
    XzDecoder()
    {
        if (lzma_stream_decoder(&stream_, kMostMemoryBytes, 0) != LZMA_OK)
            throw std::bad_alloc();
    }
    ~XzDecoder() override { lzma_end(&stream_); }
    XzDecoder(const XzDecoder &) = delete;
    XzDecoder &operator=(const XzDecoder &) = delete;

    bool step(PackedBytes &packed, Room &room) override
    {
        stream_.next_in = packed.next;
        stream_.avail_in = packed.bytes();
        stream_.next_out = room.next;
        stream_.avail_out = room.bytes();
        const lzma_ret status = lzma_code(&stream_, LZMA_RUN);
        packed.next = stream_.next_in;
        room.next = stream_.next_out;
        if (status != LZMA_OK && status != LZMA_BUF_ERROR && status != LZMA_STREAM_END)
            fail(status);
        return status == LZMA_STREAM_END;
    }

    uint64_t memory_bytes() const override { return lzma_memusage(&stream_); }

private:
    [[noreturn]] static void fail(lzma_ret status)
    {
        switch (status) {
        case LZMA_MEM_ERROR: throw std::bad_alloc();
        case LZMA_MEMLIMIT_ERROR: throw TooMuchMemory();
        case LZMA_FORMAT_ERROR: throw std::runtime_error("not xz data");
        case LZMA_OPTIONS_ERROR:
            throw std::runtime_error("options unsupported by this version of liblzma");
        default: throw std::runtime_error("a block is malformed or has a wrong checksum");
        }
    }

    lzma_stream stream_ = LZMA_STREAM_INIT;
};
} // namespace

std::unique_ptr<Decoder> make_xz_decoder()
{
    return std::make_unique<XzDecoder>();
}
} // namespace mapi::drivers
