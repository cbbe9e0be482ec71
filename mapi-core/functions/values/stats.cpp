// SPDX-License-Identifier: MIT
// STATS: another function's result, at intervals -> count, sum, sum of squares, minimum and
// maximum.  Lets every packet pass.
#include <bit>

#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/interval_clock.hpp"
#include "functions/common/refuse.hpp"
#include "functions/values/interval.hpp"
#include "functions/values/value_stats.hpp"

namespace mapi::functions
{
namespace
{
class Stats
{
public:
    Stats(mapi_value_stats_t *result, const mapi_reference *reference, Interval interval)
        : result_(result), reference_(reference), clock_(interval)
    {
    }

    void run(const mapi_batch &batch, uint64_t mask)
    {
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            const auto i = uint32_t(std::countr_zero(rest));
            uint64_t value;
            const uint64_t intervals = clock_.ended(batch.packets[i].timestamp_ns);
            if (intervals && clock_.read(reference_, i, &value))
                stats_.take(value, intervals);
        }
        stats_.write(*result_);
    }

    void reset()
    {
        stats_ = {};
        clock_.reset();
        stats_.write(*result_);
    }

private:
    mapi_value_stats_t *const result_;
    const mapi_reference *const reference_;
    IntervalClock clock_;
    ValueStats stats_;
};

int create(const mapi_function_setup *setup, void **instance)
{
    const auto interval = parse_interval(setup->arguments[2].text);
    if (!interval)
        return refuse(
            setup, MFUNCT_INVALID_ARGUMENT_3,
            std::string("\"") + setup->arguments[2].text +
                "\" is not an interval (a number of packets, or a time such as 5ms or 2s)");
    return create_object<Stats>(setup, instance, static_cast<mapi_value_stats_t *>(setup->result),
                                setup->arguments[1].references[0], *interval);
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    static_cast<Stats *>(instance)->run(*batch, mask);
    return mask;
}

int describe(const void *, uint16_t, mapi_offload_step *step)
{
    step->reason = "it needs each packet's time, and another function's result as of that packet";
    step->bytes_read = 1;
    return 0;
}

constexpr mapi_function_offload kOffload = {
    .struct_size = sizeof(mapi_function_offload),
    .describe = describe,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_stats = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "STATS",
    .description = "count, sum, sum of squares, minimum and maximum of another function's results",
    .flags = MAPI_FUNCTION_PASSES_ALL,
    .result_bytes = sizeof(mapi_value_stats_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Stats>,
    .arguments = {MAPI_ARGUMENT_FLOW, MAPI_ARGUMENT_FUNCTION, MAPI_ARGUMENT_STRING},
    .reset = mapi::functions::reset<mapi::functions::Stats>,
    .offload = &mapi::functions::kOffload,
};
