// SPDX-License-Identifier: MIT
// PKTINFO: packet -> uint64 timestamp (NTP) or wire length of the last packet.  Lets every packet
// pass.

#include <mapi/errors.h>
#include <mapi/pktinfo.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/ntp_time.hpp"
#include "functions/common/packet_value.hpp"
#include "functions/common/refuse.hpp"

namespace mapi::functions
{
namespace
{
constexpr int64_t kPacketSizeToo = 2; // PKT_SIZE in libmapi before it adopted MAPI 2's numbers

struct PacketInfo {
    uint64_t *result;
    bool is_time;

    uint64_t of(const mapi_packet &packet) const
    {
        return of(packet.timestamp_ns, packet.wire_len);
    }
    uint64_t of(uint64_t timestamp_ns, uint64_t wire_bytes) const
    {
        return is_time ? ntp_time(timestamp_ns) : wire_bytes;
    }
};

int create(const mapi_function_setup *setup, void **instance)
{
    const int64_t what = setup->arguments[0].number;
    if (what != PKT_TS && what != PKT_SIZE && what != kPacketSizeToo)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1,
                      "type " + std::to_string(what) + " is neither 0 (PKT_TS) nor 1 (PKT_SIZE)");
    return create_object<PacketInfo>(setup, instance, static_cast<uint64_t *>(setup->result),
                                     what == PKT_TS);
}

constexpr mapi_function_result kResult = {
    .struct_size = sizeof(mapi_function_result),
    .values = packet_values<PacketInfo>,
};

int describe(const void *, uint16_t, mapi_offload_step *step)
{
    step->kind = MAPI_OFFLOAD_LAST;
    return 1;
}

void follow(void *instance, const mapi_offload_state *state)
{
    const auto *info = static_cast<const PacketInfo *>(instance);
    *info->result = info->of(state->last_time_ns, state->last_wire_bytes);
}

constexpr mapi_function_offload kOffload = {
    .struct_size = sizeof(mapi_function_offload),
    .describe = describe,
    .follow = follow,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_pktinfo = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "PKTINFO",
    .description = "timestamp or wire length of the last packet",
    .flags = MAPI_FUNCTION_PURE | MAPI_FUNCTION_PASSES_ALL,
    .result_bytes = sizeof(uint64_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process_packet_value<mapi::functions::PacketInfo>,
    .destroy = mapi::functions::destroy<mapi::functions::PacketInfo>,
    .arguments = {MAPI_ARGUMENT_INT},
    .result = &mapi::functions::kResult,
    .offload = &mapi::functions::kOffload,
};
