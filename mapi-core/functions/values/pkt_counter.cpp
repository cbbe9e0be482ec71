// SPDX-License-Identifier: MIT
// PKT_COUNTER: packet -> uint64 count.  Lets every packet pass.
#include <bit>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"

namespace
{
uint64_t process(void *instance, const mapi_batch *, uint64_t mask)
{
    *static_cast<uint64_t *>(instance) += uint64_t(std::popcount(mask));
    return mask;
}

uint64_t values(const void *instance, const mapi_batch *, uint64_t mask, uint64_t *values)
{
    uint64_t count = *static_cast<const uint64_t *>(instance) - uint64_t(std::popcount(mask));
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1)
        values[std::countr_zero(rest)] = ++count;
    return mask;
}

int describe(const void *, uint16_t, mapi_offload_step *step)
{
    step->kind = MAPI_OFFLOAD_COUNT;
    return 1;
}

void add(void *instance, uint64_t packets, uint64_t)
{
    *static_cast<uint64_t *>(instance) += packets;
}

constexpr mapi_function_result kResult = {
    .struct_size = sizeof(mapi_function_result),
    .values = values,
};

constexpr mapi_function_offload kOffload = {
    .struct_size = sizeof(mapi_function_offload),
    .describe = describe,
    .add = add,
};
} // namespace

extern "C" const mapi_function mapi_fn_pkt_counter = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "PKT_COUNTER",
    .description = "counts packets",
    .flags = MAPI_FUNCTION_ADDITIVE | MAPI_FUNCTION_PASSES_ALL,
    .result_bytes = sizeof(uint64_t),
    .process = process,
    .result = &kResult,
    .offload = &kOffload,
};
