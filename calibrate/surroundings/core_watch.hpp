// SPDX-License-Identifier: MIT
// core_watch: one CPU, watched for a while -> whether others used its core, changed its frequency
// or took it away.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nsprobe/core_look.h>

namespace calibrate
{
// Two clocks read together.
struct Instant {
    double ticks = 0;
    double seconds = 0;
};

Instant now();

// Involuntary context switches of the calling thread.
uint64_t preemptions();

// What happened while a CPU was watched.
struct Surroundings {
    double seconds = 0;
    double ticks = 0;
    double watched_seconds = 0; // of these; gaps are only seen then
    nsp_core_summary core = {};
    uint64_t gaps = 0; // between two clock reads in a row, longer than kGapSeconds
    double gap_seconds = 0;
    double longest_gap_seconds = 0;
    std::optional<double> steal_seconds; // as the hypervisor reports it
    uint64_t preemptions = 0;

    double shared_share() const { return core.looks ? double(core.shared) / core.looks : 0; }
    double gap_share() const { return watched_seconds > 0 ? gap_seconds / watched_seconds : 0; }
    std::optional<double> core_hz() const; // absent on architectures that do not show it
};

inline constexpr double kGapSeconds = 5e-6; // longer than a timer interrupt

inline constexpr double kMuchShared = 0.2; // of the looks
inline constexpr double kMuchTaken = 0.02; // of the time
inline constexpr double kWideRange = 0.03; // of the frequency

// The reasons why figures measured meanwhile would not be those of an undisturbed core, such as
// "busy sibling"; empty: there are none.
std::vector<std::string> disturbances_of(const Surroundings &what);

// The thread must stay bound to one CPU.
class CoreWatch
{
public:
    explicit CoreWatch(unsigned cpu);

    // Looks at the core as often as in one millisecond each, and for gaps in between.
    void watch(double seconds);
    // What happened since the last call, or the beginning; also outside watch(), as far as the
    // system reports it.
    Surroundings take();

private:
    void look_for_gaps(double until_ticks);

    unsigned cpu_;
    double seconds_per_tick_;
    double alone_ratio_ = 0; // the best so far
    std::vector<nsp_core_look> looks_;
    Surroundings sum_;
    Instant begin_;
    std::optional<double> steal_begin_;
    uint64_t preemptions_begin_;
};
} // namespace calibrate
