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
};
