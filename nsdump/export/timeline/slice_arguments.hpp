// SPDX-License-Identifier: MIT
// export: a slice -> what a timeline keeps of it; what is kept -> the arguments that a viewer
// shows.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "export/timeline/monotonic_time.hpp"
#include "export/timeline/nested_slices.hpp"
#include "export/timeline/writer.hpp"

namespace nsdump
{
class SliceArguments
{
public:
    SliceArguments(const TraceFile &trace, const Correction &correction, const MonotonicTime &time);

    // Without its times.
    TimelineSlice kept(const Slice &slice) const;
    // Valid until the next call.
    std::span<const Argument> of(const TimelineSlice &slice);

private:
    struct CounterNames {
        std::string raw, net;
    };
    static std::vector<CounterNames> names_of(const std::vector<std::string> &counters,
                                              const std::string &prefix);

    const TraceFile &trace_;
    const Correction &correction_;
    const MonotonicTime &time_;
    std::vector<CounterNames> program_counters_, kernel_counters_;
    std::vector<Argument> arguments_;
};
} // namespace nsdump
