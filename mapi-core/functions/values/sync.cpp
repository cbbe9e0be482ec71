// SPDX-License-Identifier: MIT
// SYNC: packets -> all of them, once all flows of a list have started.
#include <vector>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"

namespace mapi::functions
{
namespace
{
class Gate
{
public:
    explicit Gate(const mapi_argument &flows) : waited_for_(flows.flows, flows.flows + flows.number)
    {
    }

    uint64_t run(uint64_t mask)
    {
        if (!waited_for_.empty())
            std::erase_if(waited_for_, mapi_flow_has_begun);
        return waited_for_.empty() ? mask : 0;
    }

private:
    std::vector<const uint64_t *> waited_for_;
};

int create(const mapi_function_setup *setup, void **instance)
{
    return create_object<Gate>(setup, instance, setup->arguments[0]);
}

uint64_t process(void *instance, const mapi_batch *, uint64_t mask)
{
    return static_cast<Gate *>(instance)->run(mask);
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_sync = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "SYNC",
    .description = "passes packets once all flows of a list are connected",
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Gate>,
    .arguments = {MAPI_ARGUMENT_FLOWS},
};
