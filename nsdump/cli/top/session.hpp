// SPDX-License-Identifier: MIT
// cli: a running process -> its slices, interval by interval, in memory.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "cli/record/child.hpp"
#include "cli/record/recorder.hpp"
#include "cli/record/session_options.hpp"
#include "cli/top/rows.hpp"
#include "live/live_file.hpp"
#include "live/live_trace.hpp"

namespace nsdump
{
class TopSession
{
public:
    // Attaches; throws UsageError or TraceError if the process does not accept it.
    TopSession(int pid, const SessionOptions &options, const std::string &slices);

    bool has_ended() const { return process_.has_ended(); }
    // As `nsdump record` drains, and reads what was drained some times a second.  Returns whether
    // the rings filled quickly, so that the next call should follow at once.  Throws OutputError.
    bool drain();
    double interval_s() const { return seconds_between(interval_begin_, Clock::now()); }
    TopInterval end_interval();
    // Ends the session in the process, and with it the last interval.
    TopInterval finish(bool has_ended);

private:
    using Clock = std::chrono::steady_clock;

    static double seconds_between(Clock::time_point begin, Clock::time_point end)
    {
        return std::chrono::duration<double>(end - begin).count();
    }
    void read_drained();
    TopInterval interval_until_now(const nsp_session_counts &counts);

    RunningProcess process_;
    int pid_;
    std::string program_;
    uint64_t ring_bytes_;
    LiveFile file_;
    LiveTrace trace_;
    Recorder recorder_;
    Clock::time_point begin_, interval_begin_, next_read_;
    nsp_session_counts counts_{}; // at the interval's begin
};
} // namespace nsdump
