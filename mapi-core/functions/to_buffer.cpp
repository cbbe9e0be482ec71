// SPDX-License-Identifier: MIT
// TO_BUFFER: packet -> copy in a buffer that mapi_get_next_pkt() reads.  Lets every packet pass.
#include <memory>

#include <mapi/mapi.h>

#include "functions/catalog.hpp"
#include "functions/instance.hpp"
#include "functions/packet_ring.hpp"
#include "functions/refuse.hpp"

namespace mapi::functions
{
namespace
{
int create(const mapi_function_setup *setup, void **instance)
{
    const int64_t mode = setup->arguments[0].kind ? setup->arguments[0].number : int64_t(WAIT);
    if (mode != WAIT && mode != NOWAIT)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1, "the mode is neither WAIT nor NOWAIT");
    PacketRingOptions options;
    options.reader_waits = mode == WAIT;
    // A wire does not wait; a file can.
    options.writer_waits = mode == WAIT && is_offline(setup);
    return create_object<PacketRing>(setup, instance, options);
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    static_cast<PacketRing *>(instance)->push(*batch, mask);
    return mask;
}

const mapipkt *next_packet(void *instance)
{
    return static_cast<PacketRing *>(instance)->next();
}

void end(void *instance)
{
    static_cast<PacketRing *>(instance)->end();
}

void cancel(void *instance)
{
    static_cast<PacketRing *>(instance)->cancel();
}

void drops(const void *instance, mapi_function_drops *drops)
{
    drops->buffer_full = static_cast<const PacketRing *>(instance)->dropped();
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_to_buffer = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "TO_BUFFER",
    .description = "copies packets into a buffer for mapi_get_next_pkt()",
    .args = "?i",
    .flags = MAPI_FUNCTION_PASSES_ALL,
    .result_bytes = 0,
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::PacketRing>,
    .next_packet = mapi::functions::next_packet,
    .end = mapi::functions::end,
    .cancel = mapi::functions::cancel,
    .drops = mapi::functions::drops,
};
