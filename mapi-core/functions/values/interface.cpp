// SPDX-License-Identifier: MIT
// INTERFACE: packet -> passes when it was received on a given interface of the device.
#include <bit>
#include <limits>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/refuse.hpp"

namespace mapi::functions
{
namespace
{
int create(const mapi_function_setup *setup, void **instance)
{
    const int64_t number = setup->arguments[0].number;
    if (number < 0 || number > std::numeric_limits<uint16_t>::max())
        return refuse_range(setup, MFUNCT_INVALID_ARGUMENT_1, "the interface number", number,
                            "0 to 65535");
    return create_object<uint16_t>(setup, instance, uint16_t(number));
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    const uint16_t wanted = *static_cast<uint16_t *>(instance);
    uint64_t passed = 0;
    for (uint64_t rest = mask; rest != 0; rest &= rest - 1)
        passed |= batch->packets[std::countr_zero(rest)].ifindex == wanted ? rest & -rest : 0;
    return passed;
}

// A driver that runs functions has one interface, with the number 0.
int describe(const void *instance, uint16_t, mapi_offload_step *step)
{
    constexpr uint16_t kReturn = 6; // BPF_RET | BPF_K
    static constexpr mapi_filter_code kAll = {kReturn, 0, 0, UINT32_MAX};
    static constexpr mapi_filter_code kNone = {kReturn, 0, 0, 0};
    step->kind = MAPI_OFFLOAD_FILTER;
    step->code = *static_cast<const uint16_t *>(instance) == 0 ? &kAll : &kNone;
    step->code_count = 1;
    return 1;
}

constexpr mapi_function_offload kOffload = {
    .struct_size = sizeof(mapi_function_offload),
    .describe = describe,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_interface = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "INTERFACE",
    .description = "passes packets received on one interface",
    .flags = MAPI_FUNCTION_PURE,
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<uint16_t>,
    .arguments = {MAPI_ARGUMENT_INT},
    .offload = &mapi::functions::kOffload,
};
