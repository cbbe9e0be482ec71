// SPDX-License-Identifier: MIT
// PERF_START, PERF_STOP: the cost of the flow's functions between the two.  They let every packet
// pass.
#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"

namespace mapi::functions
{
namespace
{
struct PerfStop {
    mapi_perf_t *result;
    const mapi_perf_t *meter;

    void reset() { *result = {}; }
};

int create_start(const mapi_function_setup *, void **instance)
{
    *instance = nullptr;
    return 0;
}

int create_stop(const mapi_function_setup *setup, void **instance)
{
    return create_object<PerfStop>(setup, instance, static_cast<mapi_perf_t *>(setup->result),
                                   setup->meter);
}

uint64_t process_start(void *, const mapi_batch *, uint64_t mask)
{
    return mask;
}

uint64_t process_stop(void *instance, const mapi_batch *, uint64_t mask)
{
    const auto &stop = *static_cast<PerfStop *>(instance);
    *stop.result = *stop.meter;
    return mask;
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_perf_start = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "PERF_START",
    .description = "start of the functions that PERF_STOP measures",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_METER_BEGIN,
    .create = mapi::functions::create_start,
    .process = mapi::functions::process_start,
};

extern "C" const mapi_function mapi_fn_perf_stop = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "PERF_STOP",
    .description = "net instructions, cycles and time of the functions since PERF_START",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_EVERY_BATCH | MAPI_FUNCTION_METER_END,
    .result_bytes = sizeof(mapi_perf_t),
    .create = mapi::functions::create_stop,
    .process = mapi::functions::process_stop,
    .destroy = mapi::functions::destroy<mapi::functions::PerfStop>,
    .reset = mapi::functions::reset<mapi::functions::PerfStop>,
};
