// SPDX-License-Identifier: MIT
// COOKING without libtins: always refused.
#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"

namespace mapi::functions
{
namespace
{
int create(const mapi_function_setup *setup, void **)
{
    return refuse(setup, MFUNCT_COULD_NOT_APPLY_FUNCT,
                  "unavailable: built without libtins (install libtins-dev and rebuild)");
}

uint64_t process(void *, const mapi_batch *, uint64_t)
{
    return 0;
}

int next_batch(void *, mapi_batch *)
{
    return 0;
}

constexpr mapi_function_transform kTransform = {
    .struct_size = sizeof(mapi_function_transform),
    .next_batch = next_batch,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_cooking = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "COOKING",
    .description = "reassembles TCP streams (not in this build)",
    .result_bytes = sizeof(mapi_cooking_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .arguments = {MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT},
    .transform = &mapi::functions::kTransform,
};
