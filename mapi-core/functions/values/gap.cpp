// SPDX-License-Identifier: MIT
// GAP: packet -> uint64 time since the previous packet, in NTP ticks of 2^-32 s.  Lets every packet
// pass.
#include <bit>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/ntp_time.hpp"
#include "functions/common/refuse.hpp"

namespace mapi::functions
{
namespace
{
// Packets with equal timestamps, or out of order as after merging interfaces, have no gap.
uint64_t gap(uint64_t before_ns, uint64_t ns)
{
    return ns > before_ns ? ntp_fraction(ns - before_ns) : 0;
}

struct Gap {
    uint64_t *result;
    uint64_t before_ns = 0; // of the last packet before the batch
    uint64_t last_ns = 0;
    bool has_before = false;
    bool has_last = false;

    void reset()
    {
        *result = 0;
        has_before = has_last = false;
    }
};

int create(const mapi_function_setup *setup, void **instance)
{
    return create_object<Gap>(setup, instance, static_cast<uint64_t *>(setup->result));
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    auto &state = *static_cast<Gap *>(instance);
    state.before_ns = state.last_ns;
    state.has_before = state.has_last;
    const int last = 63 - std::countl_zero(mask);
    const uint64_t others = mask ^ uint64_t(1) << last;
    const uint64_t last_ns = batch->packets[last].timestamp_ns;
    if (others)
        *state.result = gap(batch->packets[63 - std::countl_zero(others)].timestamp_ns, last_ns);
    else if (state.has_before)
        *state.result = gap(state.before_ns, last_ns);
    state.last_ns = last_ns;
    state.has_last = true;
    return mask;
}

// The very first packet has no gap.
uint64_t values(const void *instance, const mapi_batch *batch, uint64_t mask, uint64_t *values)
{
    const auto &state = *static_cast<const Gap *>(instance);
    uint64_t before_ns = state.before_ns;
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        values[i] = gap(before_ns, batch->packets[i].timestamp_ns);
        before_ns = batch->packets[i].timestamp_ns;
    }
    return state.has_before ? mask : mask & (mask - 1);
}

constexpr mapi_function_result kResult = {
    .struct_size = sizeof(mapi_function_result),
    .values = values,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_gap = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "GAP",
    .description = "time between the last two packets",
    .flags = MAPI_FUNCTION_PASSES_ALL,
    .result_bytes = sizeof(uint64_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Gap>,
    .reset = mapi::functions::reset<mapi::functions::Gap>,
    .result = &mapi::functions::kResult,
};
