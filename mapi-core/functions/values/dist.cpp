// SPDX-License-Identifier: MIT
// DIST: another function's result after each packet -> histogram of its values.  Lets every packet
// pass.
#include <algorithm>
#include <bit>
#include <cstddef>

#include <mapi/results.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/ntp_time.hpp"
#include "functions/common/refuse.hpp"
#include "functions/values/interval.hpp"

namespace mapi::functions
{
namespace
{
constexpr uint64_t kMaxIntervals = 1u << 18;

// A range of numbers, or of times in ns: in NTP ticks, the unit of results, ten intervals of 10 ms
// would not add up to 100 ms.
struct Range {
    uint64_t min, max, interval;
    bool is_time;

    uint64_t intervals() const { return (max - min) / interval + ((max - min) % interval != 0); }
    uint64_t in_result(uint64_t value) const { return is_time ? ntp_fraction(value) : value; }
    uint64_t from_result(uint64_t value) const
    {
        return is_time ? ns_of_ntp_fraction(value) : value;
    }
};

class Distribution
{
public:
    Distribution(const mapi_function_setup *setup, const Range &range)
        : range_(range), reference_(setup->arguments[1].references[0]),
          result_(allocate_result<mapi_dist_t>(setup, offsetof(mapi_dist_t, data) +
                                                          (range.intervals() + MAPI_DIST_BESIDE) *
                                                              sizeof(uint64_t)))
    {
        mapi_result_set(&result_->min, range_.in_result(range_.min));
        mapi_result_set(&result_->max, range_.in_result(range_.max));
        mapi_result_set(&result_->intervals, range_.intervals());
    }

    void run(uint64_t mask)
    {
        for (uint64_t rest = mask; rest != 0; rest &= rest - 1) {
            uint64_t value;
            if (mapi_reference_read(reference_, uint32_t(std::countr_zero(rest)), &value))
                take(range_.from_result(value));
        }
    }

    void reset()
    {
        for (uint64_t place = 0; place < range_.intervals() + MAPI_DIST_BESIDE; ++place)
            mapi_result_set(&result_->data[place], 0);
    }

private:
    void take(uint64_t value)
    {
        const uint64_t above = range_.intervals();
        if (value < range_.min)
            add(above + 1);
        add(value < range_.min    ? 0
            : value >= range_.max ? above
                                  : (value - range_.min) / range_.interval);
    }

    void add(uint64_t place) { mapi_result_set(&result_->data[place], result_->data[place] + 1); }

    const Range range_;
    const mapi_reference *const reference_;
    mapi_dist_t *const result_;
};

constexpr int kFirstAmount = 2; // index of the first of three arguments
constexpr int kNumbers[] = {MFUNCT_INVALID_ARGUMENT_3, MFUNCT_INVALID_ARGUMENT_4,
                            MFUNCT_INVALID_ARGUMENT_5};

// Returns 0 or an error number.
int read_range(const mapi_function_setup *setup, Range &range)
{
    Amount amounts[3];
    for (int i = 0; i < 3; ++i) {
        const char *text = setup->arguments[kFirstAmount + i].text;
        const auto amount = parse_amount(text);
        if (!amount)
            return refuse(setup, kNumbers[i],
                          std::string("\"") + text +
                              "\" is neither a number nor a time such as 5ms");
        amounts[i] = *amount;
        range.is_time |= amount->is_time;
    }
    for (int i = 0; i < 3; ++i) {
        if (range.is_time && !amounts[i].is_time && amounts[i].number != 0)
            return refuse(setup, kNumbers[i], "numbers and times are mixed");
    }
    range.min = amounts[0].number;
    range.max = amounts[1].number;
    range.interval = amounts[2].number;
    if (range.max <= range.min)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_4,
                      "the upper limit is not above the lower limit");
    if (range.interval == 0)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_5, "the width of the intervals is 0");
    if (range.intervals() > kMaxIntervals)
        return refuse_range(setup, MFUNCT_INVALID_ARGUMENT_5, "the number of intervals",
                            range.intervals(), "1 to " + std::to_string(kMaxIntervals));
    return 0;
}

int create(const mapi_function_setup *setup, void **instance)
{
    Range range{};
    if (const int refused = read_range(setup, range))
        return refused;
    return create_object<Distribution>(setup, instance, setup, range);
}

uint64_t process(void *instance, const mapi_batch *, uint64_t mask)
{
    static_cast<Distribution *>(instance)->run(mask);
    return mask;
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_dist = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "DIST",
    .description = "histogram of another function's results",
    .flags = MAPI_FUNCTION_PASSES_ALL | MAPI_FUNCTION_RESULT_IN_PLACE,
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Distribution>,
    .arguments = {MAPI_ARGUMENT_FLOW, MAPI_ARGUMENT_FUNCTION, MAPI_ARGUMENT_STRING,
                  MAPI_ARGUMENT_STRING, MAPI_ARGUMENT_STRING},
    .reset = mapi::functions::reset<mapi::functions::Distribution>,
};
