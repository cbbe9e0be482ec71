// SPDX-License-Identifier: MIT
// THRESHOLD: another function's result that passes a bound -> events that mapi_read_results()
// returns one by one.
#include <algorithm>
#include <bit>
#include <deque>

#include <mapi/mapi.h>

#include "functions/catalog.hpp"
#include "functions/common/instance.hpp"
#include "functions/common/interval_clock.hpp"
#include "functions/common/ntp_time.hpp"
#include "functions/common/refuse.hpp"
#include "functions/common/result_queue.hpp"

namespace mapi::functions
{
namespace
{
enum Argument { kType, kFlow, kFunction, kValue, kBound, kTimeout, kDivider, kCount };

constexpr int64_t kHow = THRESHOLD_POLL | THRESHOLD_WINDOW;
constexpr uint64_t kNsPerMs = 1000000;
constexpr int64_t kMaxParts = 10000;

// The result converted to the type: char and int are the low bits, sign-extended.
int64_t as(int64_t type, uint64_t value)
{
    switch (type) {
    case THRESHOLD_CHAR: return static_cast<signed char>(value);
    case THRESHOLD_INT: return int32_t(value);
    default: return int64_t(value);
    }
}

struct Bound {
    int64_t type;
    int64_t kind; // THRESHOLD_EQUAL ... THRESHOLD_BELOW
    uint64_t value;

    bool is_passed(uint64_t other) const
    {
        const bool is_equal = as(type, other) == as(type, value);
        const bool is_above =
            type == THRESHOLD_ULL ? other > value : as(type, other) > as(type, value);
        return kind == THRESHOLD_EQUAL   ? is_equal
               : kind == THRESHOLD_ABOVE ? is_above
                                         : !is_above && !is_equal;
    }
};

// The growth of a value over the last intervals, as many as there are parts.
class Window
{
public:
    explicit Window(size_t parts) : parts_(parts) {}

    uint64_t grew(uint64_t value)
    {
        growth_.push_back(value - before_);
        sum_ += growth_.back();
        before_ = value;
        if (growth_.size() > parts_) {
            sum_ -= growth_.front();
            growth_.pop_front();
        }
        return sum_;
    }

private:
    const size_t parts_;
    std::deque<uint64_t> growth_;
    uint64_t before_ = 0;
    uint64_t sum_ = 0;
};

struct ThresholdOptions {
    Bound bound;
    bool is_difference;
    uint64_t interval_ns; // between comparisons; 0: each packet
    size_t window_parts;  // 0: no window
    uint64_t events;      // number of events after which the flow stops; 0: never
};

class Threshold
{
public:
    Threshold(const mapi_function_setup *setup, const ThresholdOptions &options)
        : options_(options), reference_(setup->arguments[kFunction].references[0]),
          clock_({0, options.interval_ns}), window_(options.window_parts), queue_(setup)
    {
    }

    uint64_t run(const mapi_batch &batch, uint64_t mask)
    {
        uint64_t passed = 0;
        if (is_over())
            return 0;
        for (uint64_t rest = mask; rest != 0 && !is_over(); rest &= rest - 1) {
            const auto i = uint32_t(std::countr_zero(rest));
            if (options_.interval_ns)
                compare_intervals(clock_.ended(batch.packets[i].timestamp_ns), i);
            else
                compare_packet(i, batch.packets[i].timestamp_ns);
            passed |= is_over() ? 0 : rest & -rest;
        }
        queue_.push(events_);
        if (is_over())
            queue_.end();
        return passed;
    }

    void tick(uint64_t now_ns)
    {
        if (is_over()) // then the queue has ended as well
            return;
        const uint64_t ended = clock_.ended_in_silence(now_ns);
        if (ended)
            compare_intervals(ended, 0);
        queue_.push(events_);
        if (is_over())
            queue_.end();
    }

    uint64_t time_jumps() const { return clock_.time_jumps(); }

private:
    bool is_over() const { return options_.events != 0 && reported_ == options_.events; }

    void compare_packet(uint32_t i, uint64_t time_ns)
    {
        uint64_t value;
        if (mapi_reference_read(reference_, i, &value))
            compare(value, time_ns);
    }

    // At the end of each interval, before packet i.
    void compare_intervals(uint64_t ended, uint32_t i)
    {
        uint64_t value;
        if (ended == 0 || !mapi_reference_read_before(reference_, i, &value))
            return;
        const uint64_t reported =
            clock_.reported(ended, IntervalClock::kReportedMax + options_.window_parts);
        for (uint64_t k = 0; k < reported && !is_over(); ++k)
            compare(value, clock_.end_ns(ended - 1 - k));
        if (events_.size() >= IntervalClock::kReportedMax)
            queue_.push(events_);
    }

    void compare(uint64_t value, uint64_t time_ns)
    {
        const uint64_t compared = options_.window_parts    ? window_.grew(value)
                                  : options_.is_difference ? value - before_
                                                           : value;
        const bool has_before = has_before_;
        before_ = value;
        has_before_ = true;
        if ((options_.is_difference && !has_before) || !options_.bound.is_passed(compared))
            return;
        events_.push_back({ntp_time(time_ns), compared});
        ++reported_;
    }

    const ThresholdOptions options_;
    const mapi_reference *const reference_;
    IntervalClock clock_;
    Window window_;
    uint64_t before_ = 0;
    bool has_before_ = false;
    uint64_t reported_ = 0;
    std::vector<mapi_threshold_t> events_;
    ResultQueue<mapi_threshold_t> queue_;
};

// Returns 0 or an error number.
int read_options(const mapi_function_setup *setup, ThresholdOptions &options)
{
    const auto number = [&](Argument argument) { return setup->arguments[argument].number; };
    const int64_t type = number(kType) & ~kHow, bound = number(kBound),
                  parts = std::max<int64_t>(number(kDivider), 1);
    const bool is_window = number(kType) & THRESHOLD_WINDOW, is_timed = number(kType) & kHow;
    const uint64_t timeout_ns = uint64_t(std::max<int64_t>(number(kTimeout), 0)) * kNsPerMs;
    if (type < THRESHOLD_CHAR || type > THRESHOLD_ULL)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_1,
                      "the type is not THRESHOLD_CHAR, _INT or _ULL, with or without "
                      "THRESHOLD_POLL or _WINDOW");
    if (bound < 0 || bound > THRESHOLD_BELOW_DIFF ||
        (bound != THRESHOLD_EQUAL && std::popcount(uint64_t(bound)) != 1))
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_5,
                      "the bound is not THRESHOLD_EQUAL, _ABOVE, _BELOW, _EQUAL_DIFF, _ABOVE_DIFF "
                      "or _BELOW_DIFF");
    if (is_window && bound > THRESHOLD_BELOW)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_5,
                      "a window already compares differences; _DIFF cannot be combined with it");
    if (is_timed && timeout_ns == 0)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT_6,
                      "the time between comparisons is not above 0 ms");
    if (is_window && parts > kMaxParts)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT,
                      "argument 7: the number of parts of a window is out of range (at most " +
                          std::to_string(kMaxParts) + ")");
    if (number(kCount) < 0)
        return refuse(setup, MFUNCT_INVALID_ARGUMENT,
                      "argument 8: the number of events is negative");
    options.is_difference = bound > THRESHOLD_BELOW;
    options.bound = {type, options.is_difference ? bound / THRESHOLD_ABOVE_DIFF : bound,
                     uint64_t(number(kValue))}; // 4, 8, 16: 0, 1, 2
    options.window_parts = is_window ? size_t(parts) : 0;
    options.interval_ns = is_timed ? timeout_ns / (is_window ? uint64_t(parts) : 1) : 0;
    options.events = uint64_t(number(kCount));
    return 0;
}

int create(const mapi_function_setup *setup, void **instance)
{
    ThresholdOptions options{};
    if (const int refused = read_options(setup, options))
        return refused;
    return create_object<Threshold>(setup, instance, setup, options);
}

uint64_t process(void *instance, const mapi_batch *batch, uint64_t mask)
{
    return static_cast<Threshold *>(instance)->run(*batch, mask);
}
} // namespace
} // namespace mapi::functions

extern "C" const mapi_function mapi_fn_threshold = {
    .abi = MAPI_FUNCTION_ABI,
    .struct_size = sizeof(mapi_function),
    .name = "THRESHOLD",
    .description = "reports when the result of another function passes a bound",
    .flags = MAPI_FUNCTION_RESULTS_IN_RING,
    .result_bytes = sizeof(mapi_threshold_t),
    .create = mapi::functions::create,
    .process = mapi::functions::process,
    .destroy = mapi::functions::destroy<mapi::functions::Threshold>,
    .arguments = {MAPI_ARGUMENT_INT, MAPI_ARGUMENT_FLOW, MAPI_ARGUMENT_FUNCTION,
                  MAPI_ARGUMENT_INT64, MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT, MAPI_ARGUMENT_INT,
                  MAPI_ARGUMENT_INT},
    .tick = mapi::functions::tick<mapi::functions::Threshold>,
    .drops = mapi::functions::time_jumps<mapi::functions::Threshold>,
};
