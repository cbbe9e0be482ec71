// SPDX-License-Identifier: MIT
// BYTE_COUNTER: packet -> uint64 sum of wire bytes.  Lets every packet pass.
#include <bit>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"

namespace
{
uint64_t sum(const mapi_batch *batch, uint64_t mask)
{
    if (mask == batch->all)
        return batch->wire_bytes;
    uint64_t bytes = 0;
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1)
        bytes += batch->packets[std::countr_zero(rest)].wire_len;
    return bytes;
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    *static_cast<uint64_t *>(instance) += sum(batch, mask);
    return mask;
}

uint64_t values(const void *instance, const mapi_batch *batch, uint64_t mask, uint64_t *values)
{
    uint64_t bytes = *static_cast<const uint64_t *>(instance) - sum(batch, mask);
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
        const int i = std::countr_zero(rest);
        values[i] = bytes += batch->packets[i].wire_len;
    }
    return mask;
}

int describe(const void *, uint16_t, mapi_offload_step *step)
{
    step->kind = MAPI_OFFLOAD_COUNT;
    return 1;
}

void add(void *instance, uint64_t, uint64_t wire_bytes)
{
    *static_cast<uint64_t *>(instance) += wire_bytes;
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

extern "C" const mapi_function mapi_fn_byte_counter = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "BYTE_COUNTER",
    .description = "counts bytes on the wire",
    .flags = MAPI_FUNCTION_ADDITIVE | MAPI_FUNCTION_PASSES_ALL,
    .result_bytes = sizeof(uint64_t),
    .process = process,
    .result = &kResult,
    .offload = &kOffload,
};
