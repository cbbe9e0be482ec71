// SPDX-License-Identifier: MIT
// core_watch: one CPU, watched for a while -> what others did to it.
#include "surroundings/core_watch.hpp"

#include <algorithm>
#include <ctime>

#include <sys/resource.h>

#include "cases/cases.hpp"
#include "report/environment.hpp"

namespace calibrate
{
namespace
{
constexpr const char *kRoot = "/";
constexpr double kBetweenLooksSeconds = 1e-3;
constexpr double kStealStepSeconds = 0.01; // of /proc/stat; a single step proves little
constexpr double kRateSeconds = 2e-3;      // for a first estimate of the clock's rate
constexpr int kReadings = 4;

double measured_seconds_per_tick()
{
    const Instant begin = now();
    Instant end = begin;
    while (end.seconds - begin.seconds < kRateSeconds)
        end = now();
    return (end.seconds - begin.seconds) / (end.ticks - begin.ticks);
}
} // namespace

// The closest of some readings: an interrupt or another program may come in between.
Instant now()
{
    Instant closest;
    uint64_t least = UINT64_MAX;
    for (int reading = 0; reading < kReadings; ++reading) {
        timespec raw;
        const uint64_t before = read_ticks();
        clock_gettime(CLOCK_MONOTONIC_RAW, &raw);
        const uint64_t apart = read_ticks() - before;
        if (apart >= least)
            continue;
        least = apart;
        closest = {double(before) + double(apart) / 2,
                   double(raw.tv_sec) + double(raw.tv_nsec) * 1e-9};
    }
    return closest;
}

uint64_t preemptions()
{
    rusage usage{};
    getrusage(RUSAGE_THREAD, &usage);
    return uint64_t(usage.ru_nivcsw);
}

std::optional<double> Surroundings::core_hz() const
{
    if (core.cycles_per_tick <= 0 || seconds <= 0)
        return std::nullopt;
    return core.cycles_per_tick * ticks / seconds;
}

std::vector<std::string> disturbances_of(const Surroundings &what)
{
    std::vector<std::string> reasons;
    if (what.shared_share() > kMuchShared)
        reasons.emplace_back("busy sibling");
    if (what.core.frequency_range > kWideRange)
        reasons.emplace_back("changing frequency");
    if (what.steal_seconds.value_or(0) >
        std::max(kMuchTaken * what.seconds, kStealStepSeconds * 1.5))
        reasons.emplace_back("hypervisor");
    if (what.gap_share() > kMuchTaken)
        reasons.emplace_back(what.preemptions > 0 ? "other programs" : "gaps");
    return reasons;
}

CoreWatch::CoreWatch(unsigned cpu)
    : cpu_(cpu), seconds_per_tick_(measured_seconds_per_tick()), begin_(now()),
      steal_begin_(read_steal_seconds(kRoot, cpu)), preemptions_begin_(preemptions())
{
}

void CoreWatch::look_for_gaps(double until_ticks)
{
    const double limit_ticks = kGapSeconds / seconds_per_tick_;
    uint64_t last = read_ticks();
    while (double(last) < until_ticks) {
        const uint64_t next = read_ticks();
        const double gap = next > last ? double(next - last) : 0;
        last = next;
        if (gap < limit_ticks)
            continue;
        ++sum_.gaps;
        sum_.gap_seconds += gap * seconds_per_tick_;
        sum_.longest_gap_seconds = std::max(sum_.longest_gap_seconds, gap * seconds_per_tick_);
    }
}

void CoreWatch::watch(double seconds)
{
    const double begin = double(read_ticks()), end = begin + seconds / seconds_per_tick_;
    for (double at = begin; at < end;) {
        nsp_core_look look;
        nsp_core_look_read(&look);
        looks_.push_back(look);
        at = std::min(at + kBetweenLooksSeconds / seconds_per_tick_, end);
        look_for_gaps(at);
    }
    sum_.watched_seconds += (double(read_ticks()) - begin) * seconds_per_tick_;
}

Surroundings CoreWatch::take()
{
    Surroundings out = sum_;
    const Instant end = now();
    const auto steal = read_steal_seconds(kRoot, cpu_);
    const uint64_t preempted = preemptions();
    nsp_core_summarise(looks_.data(), uint32_t(looks_.size()), alone_ratio_, &out.core);
    alone_ratio_ = out.core.alone_ratio;
    out.seconds = end.seconds - begin_.seconds;
    out.ticks = end.ticks - begin_.ticks;
    out.preemptions = preempted - preemptions_begin_;
    if (steal && steal_begin_)
        out.steal_seconds = *steal - *steal_begin_;
    looks_.clear();
    sum_ = {};
    begin_ = end;
    steal_begin_ = steal;
    preemptions_begin_ = preempted;
    return out;
}
} // namespace calibrate
