// SPDX-License-Identifier: MIT
// bzip2: with libbz2, in at most 4 MB.
#include <new>
#include <stdexcept>

#include <bzlib.h>

#include "drivers/unpack/decoder.hpp"

namespace mapi::drivers
{
namespace
{
class Bzip2Decoder : public Decoder
{
public:
    Bzip2Decoder()
    {
        if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK)
            throw std::bad_alloc();
    }
    ~Bzip2Decoder() override { BZ2_bzDecompressEnd(&stream_); }
    Bzip2Decoder(const Bzip2Decoder &) = delete;
    Bzip2Decoder &operator=(const Bzip2Decoder &) = delete;

    bool step(PackedBytes &packed, Room &room) override
    {
        stream_.next_in = const_cast<char *>(reinterpret_cast<const char *>(packed.next));
        stream_.avail_in = unsigned(packed.bytes());
        stream_.next_out = reinterpret_cast<char *>(room.next);
        stream_.avail_out = unsigned(room.bytes());
        const int status = BZ2_bzDecompress(&stream_);
        packed.next = packed.end - stream_.avail_in;
        room.next = room.end - stream_.avail_out;
        if (status == BZ_MEM_ERROR)
            throw std::bad_alloc();
        if (status != BZ_OK && status != BZ_STREAM_END)
            throw std::runtime_error(status == BZ_DATA_ERROR_MAGIC
                                         ? "not bzip2 data"
                                         : "a block is malformed or has a wrong checksum");
        return status == BZ_STREAM_END;
    }

    // bzip2(1): 100 KB and four times the block size, at most 900,000 bytes.
    uint64_t memory_bytes() const override { return 3'700'000; }

private:
    bz_stream stream_ = {};
};
} // namespace

std::unique_ptr<Decoder> make_bzip2_decoder()
{
    return std::make_unique<Bzip2Decoder>();
}
} // namespace mapi::drivers
