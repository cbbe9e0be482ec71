// SPDX-License-Identifier: MIT
// TO_BUFFER: packet -> copy in a buffer that mapi_get_next_pkt() reads.  Lets every packet pass.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cstring>

#include <mapi/mapi.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/ntp_time.hpp"
#include "functions/common/refuse.hpp"

namespace mapi::functions
{
namespace
{
constexpr uint64_t kBytes = uint64_t(4) << 20;
constexpr uint32_t kHeaderBytes = offsetof(mapipkt, pkt);
static_assert(kHeaderBytes == 20, "programs reach the frame through this offset");

class PacketBuffer
{
public:
    PacketBuffer(const mapi_function_setup *setup, uint32_t flags)
        : ring_(make_ring(setup, {flags, 0, kBytes, 0, 0})),
          snap_bytes_(functions::snap_bytes(setup))
    {
    }

    void push(const mapi_batch &batch, uint64_t mask)
    {
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            const mapi_packet &packet = batch.packets[std::countr_zero(rest)];
            const uint32_t bytes = std::min(packet.caplen, snap_bytes_);
            if (!has_ntp_time(packet.timestamp_ns)) [[unlikely]]
                timeless_.fetch_add(1, std::memory_order_relaxed);
            else if (void *record = ring_.calls->reserve(ring_.ring, kHeaderBytes + bytes))
                [[likely]]
                write(static_cast<mapipkt *>(record), packet, bytes);
        }
        ring_.calls->publish(ring_.ring);
    }

    uint32_t snap_bytes() const { return snap_bytes_; }
    // Number of packets whose time does not fit into `ts`.
    uint64_t timeless() const { return timeless_.load(std::memory_order_relaxed); }

private:
    static void write(mapipkt *record, const mapi_packet &packet, uint32_t bytes)
    {
        record->ts = ntp_time(packet.timestamp_ns);
        record->ifindex = packet.ifindex;
        record->caplen = bytes;
        record->wlen = packet.wire_len;
        memcpy(reinterpret_cast<uint8_t *>(record) + kHeaderBytes, packet.data, bytes);
    }

    const Ring ring_;
    const uint32_t snap_bytes_;
    std::atomic<uint64_t> timeless_ = 0;
};

int create(const mapi_function_setup *setup, void **instance)
{
    const int64_t mode = setup->arguments[0].kind ? setup->arguments[0].number : int64_t(WAIT);
    if (mode != WAIT && mode != NOWAIT)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1,
                      "mode " + std::to_string(mode) + " is neither 0 (WAIT) nor 1 (NOWAIT)");
    // A live device cannot wait, a file can.
    const uint32_t flags = mode == NOWAIT      ? uint32_t(MAPI_RING_READER_RETURNS)
                           : is_offline(setup) ? uint32_t(MAPI_RING_WRITER_WAITS)
                                               : 0;
    return create_object<PacketBuffer>(setup, instance, setup, flags);
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    static_cast<PacketBuffer *>(instance)->push(*batch, mask);
    return mask;
}

void drops(const void *instance, mapi_function_drops *drops)
{
    drops->not_written = static_cast<const PacketBuffer *>(instance)->timeless();
}

int describe(const void *instance, uint16_t, mapi_offload_step *step)
{
    step->reason = "its packets are for the program";
    step->bytes_read = static_cast<const PacketBuffer *>(instance)->snap_bytes();
    return 0;
}

constexpr mapi_function_offload kOffload = {
    .struct_size = sizeof(mapi_function_offload),
    .describe = describe,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_to_buffer = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "TO_BUFFER",
    .description = "copies packets into a buffer for mapi_get_next_pkt()",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_PACKETS_IN_RING,
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::PacketBuffer>,
    .arguments = {MAPI_OPTIONAL | MAPI_ARGUMENT_INT},
    .drops = mapi::functions::drops,
    .offload = &mapi::functions::kOffload,
};
