// SPDX-License-Identifier: MIT
// STARTSTOP: packet -> passes when its time lies between two points.
#include <bit>
#include <optional>

#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/ntp_time.hpp"
#include "functions/common/refuse.hpp"
#include "functions/common/time_span.hpp"

namespace mapi::functions
{
namespace
{
class StartStop
{
public:
    StartStop(mapi_startstop_t *result, std::optional<TimePoint> start,
              std::optional<TimePoint> stop)
        : result_(result), start_(start), stop_(stop)
    {
    }

    uint64_t run(const mapi_batch &batch, uint64_t mask)
    {
        if (!has_begun_)
            begin(batch.packets[std::countr_zero(mask)].timestamp_ns);
        uint64_t passed = 0;
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            const uint64_t time_ns = batch.packets[std::countr_zero(rest)].timestamp_ns;
            passed |= time_ns >= start_ns_ && (!stop_ || time_ns < stop_ns_) ? rest & -rest : 0;
        }
        if (passed)
            note(batch, passed);
        return passed;
    }

    // Relative times then count from the next packet.
    void reset()
    {
        *result_ = {};
        has_begun_ = false;
    }

private:
    void begin(uint64_t first_ns)
    {
        has_begun_ = true;
        // Without a start time no packet is too early, since packets may arrive out of order.
        start_ns_ = start_ ? start_->after(first_ns) : 0;
        stop_ns_ = stop_ ? stop_->after(start_ ? start_ns_ : first_ns) : 0;
        result_->first = ntp_time(first_ns);
    }

    void note(const mapi_batch &batch, uint64_t passed)
    {
        if (result_->first_processed == 0)
            result_->first_processed =
                ntp_time(batch.packets[std::countr_zero(passed)].timestamp_ns);
        result_->last_processed =
            ntp_time(batch.packets[63 - std::countl_zero(passed)].timestamp_ns);
    }

    mapi_startstop_t *const result_;
    const std::optional<TimePoint> start_, stop_; // empty: no limit
    uint64_t start_ns_ = 0;
    uint64_t stop_ns_ = 0;
    bool has_begun_ = false;
};

// "0" and "": no limit.
bool is_open(const char *text)
{
    return !*text || (text[0] == '0' && !text[1]);
}

int create(const mapi_function_setup *setup, void **instance)
{
    std::optional<TimePoint> points[2];
    for (int i = 0; i < 2; ++i) {
        const char *text = setup->arguments[i].text;
        if (is_open(text))
            continue;
        points[i] = parse_time_point(text);
        if (!points[i])
            return refuse(setup, i ? MFUNCT_INVALID_ARGUMENT_2 : MFUNCT_INVALID_ARGUMENT_1,
                          std::string("\"") + text +
                              "\" is not a time (+5s, 2004-03-01 12:00:00, or 0 for no limit)");
    }
    return create_object<StartStop>(setup, instance, static_cast<mapi_startstop_t *>(setup->result),
                                    points[0], points[1]);
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    return static_cast<StartStop *>(instance)->run(*batch, mask);
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_startstop = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "STARTSTOP",
    .description = "passes packets between two times",
    .result_bytes = sizeof(mapi_startstop_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::StartStop>,
    .arguments = {MAPI_ARGUMENT_STRING, MAPI_ARGUMENT_STRING},
    .reset = mapi::functions::reset<mapi::functions::StartStop>,
};
