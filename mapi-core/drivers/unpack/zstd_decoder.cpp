// SPDX-License-Identifier: MIT
// zstd: with libzstd, which verifies checksums.
#include <algorithm>
#include <bit>
#include <new>
#include <stdexcept>

#include <zstd.h>
#include <zstd_errors.h>

#include "drivers/unpack/decoder.hpp"

namespace mapi::drivers
{
namespace
{
class ZstdDecoder : public Decoder
{
public:
    ZstdDecoder() : stream_(ZSTD_createDStream())
    {
        if (!stream_)
            throw std::bad_alloc();
        wanted_bytes_ = ZSTD_initDStream(stream_);
        ZSTD_DCtx_setParameter(stream_, ZSTD_d_windowLogMax, std::countr_zero(kMostMemoryBytes));
    }
    ~ZstdDecoder() override { ZSTD_freeDStream(stream_); }
    ZstdDecoder(const ZstdDecoder &) = delete;
    ZstdDecoder &operator=(const ZstdDecoder &) = delete;

    // Passes no more than the library requests, which is a block: bytes that a call unpacks before
    // it finds damage are not reported.
    bool step(PackedBytes &packed, Room &room) override
    {
        ZSTD_inBuffer in = {packed.next, std::min(packed.bytes(), wanted_bytes_), 0};
        ZSTD_outBuffer out = {room.next, room.bytes(), 0};
        const size_t status = ZSTD_decompressStream(stream_, &out, &in);
        packed.next += in.pos;
        room.next += out.pos;
        if (ZSTD_isError(status))
            fail(status);
        wanted_bytes_ = status;
        return status == 0;
    }

    uint64_t memory_bytes() const override { return ZSTD_sizeof_DStream(stream_); }

private:
    [[noreturn]] static void fail(size_t status)
    {
        const ZSTD_ErrorCode code = ZSTD_getErrorCode(status);
        if (code == ZSTD_error_memory_allocation)
            throw std::bad_alloc();
        if (code == ZSTD_error_frameParameter_windowTooLarge)
            throw TooMuchMemory();
        throw std::runtime_error(ZSTD_getErrorString(code));
    }

    ZSTD_DStream *const stream_;
    size_t wanted_bytes_ = 0;
};
} // namespace

std::unique_ptr<Decoder> make_zstd_decoder()
{
    return std::make_unique<ZstdDecoder>();
}
} // namespace mapi::drivers
