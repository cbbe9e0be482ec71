// SPDX-License-Identifier: MIT
// BUCKET: another function's result, at intervals -> entries that mapi_read_results() returns one
// by one.  Lets every packet pass.
#include <algorithm>
#include <bit>
#include <string>

#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/interval_clock.hpp"
#include "functions/common/ntp_time.hpp"
#include "functions/common/refuse.hpp"
#include "functions/common/result_queue.hpp"
#include "functions/values/interval.hpp"

namespace mapi::functions
{
namespace
{
class Buckets
{
public:
    Buckets(const mapi_function_setup *setup, Interval interval, bool is_reset)
        : reference_(setup->arguments[1].references[0]),
          is_difference_(is_reset && reference_->is_count), clock_(interval), queue_(setup)
    {
    }

    void run(const mapi_batch &batch, uint64_t mask)
    {
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            const auto i = uint32_t(std::countr_zero(rest));
            uint64_t value;
            const uint64_t ended = clock_.ended(batch.packets[i].timestamp_ns);
            if (ended && clock_.read(reference_, i, &value))
                end_intervals(clock_.reported(ended), ended, value);
        }
        queue_.push(entries_);
    }

    void tick(uint64_t now_ns)
    {
        uint64_t value;
        const uint64_t ended = clock_.ended_in_silence(now_ns);
        if (ended && mapi_reference_read_before(reference_, 0, &value))
            end_intervals(clock_.reported(ended), ended, value);
        queue_.push(entries_);
    }

    // The last interval ends after the last packet.
    void end()
    {
        uint64_t value;
        if (clock_.has_rest() && mapi_reference_read_before(reference_, 0, &value))
            add(clock_.rest_end_ns(), value);
        queue_.end(entries_);
    }

    uint64_t time_jumps() const { return clock_.time_jumps(); }

private:
    // Intervals without a packet also get an entry.
    void end_intervals(uint64_t reported, uint64_t ended, uint64_t value)
    {
        for (uint64_t i = 0; i < reported; ++i)
            add(clock_.end_ns(ended - 1 - i), value);
        if (entries_.size() >= IntervalClock::kReportedMax)
            queue_.push(entries_);
    }

    void add(uint64_t time_ns, uint64_t value)
    {
        entries_.push_back({ntp_time(time_ns), is_difference_ ? value - before_ : value});
        before_ = value;
    }

    const mapi_reference *const reference_;
    const bool is_difference_;
    IntervalClock clock_;
    uint64_t before_ = 0; // value of the last entry
    std::vector<mapi_bucket_t> entries_;
    ResultQueue<mapi_bucket_t> queue_;
};

int create(const mapi_function_setup *setup, void **instance)
{
    const char *text = setup->arguments[2].text;
    const auto interval = parse_save_interval(text);
    const int64_t reset = setup->arguments[3].number;
    if (!interval)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_3,
                      std::string("\"") + text +
                          "\" is not an interval (a number of packets, a time such as 5ms or 2s, "
                          "or -1 for the end)");
    if (reset != 0 && reset != 1)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_4, "reset is neither 0 nor 1");
    return create_object<Buckets>(setup, instance, setup, *interval, reset != 0);
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    static_cast<Buckets *>(instance)->run(*batch, mask);
    return mask;
}

constexpr mapi_function_ending kEnding = {
    .struct_size = sizeof(mapi_function_ending),
    .end = end<Buckets>,
};
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_bucket = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "BUCKET",
    .description = "results of another function at intervals, one by one",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_RESULTS_IN_RING,
    .result_bytes = sizeof(mapi_bucket_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Buckets>,
    .arguments = {MAPI_ARGUMENT_FLOW, MAPI_ARGUMENT_FUNCTION, MAPI_ARGUMENT_STRING,
                  MAPI_ARGUMENT_INT},
    .tick = mapi::functions::tick<mapi::functions::Buckets>,
    .drops = mapi::functions::time_jumps<mapi::functions::Buckets>,
    .ending = &mapi::functions::kEnding,
};
