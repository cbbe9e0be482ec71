// SPDX-License-Identifier: MIT
// export: what a viewer of timelines shows: tracks, slices, instants and counters -> a format.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>

namespace nsdump
{
// A row of the viewer.  `pid` and `tid` are those of the machine for a process or a thread of one;
// other tracks have numbers that no process or thread of Linux has, for formats that know only
// threads.
struct Track {
    enum class Kind : uint8_t { group, process, thread, lane, counter };

    Kind kind = Kind::group;
    uint64_t id = 0;
    uint64_t parent_id = 0; // 0: none
    uint32_t pid = 0;
    uint32_t tid = 0;
    std::string name;
};

using ArgumentValue = std::variant<int64_t, uint64_t, double, std::string_view>;

// What the viewer shows of a slice or an instant when it is selected.
struct Argument {
    std::string_view name;
    ArgumentValue value;
};

// A slice's begin, or an instant.  Times are nanoseconds of CLOCK_MONOTONIC.
struct TimelineEvent {
    std::string_view name;
    std::string_view category;
    uint64_t start_ns = 0;
    std::optional<uint64_t> flow_id; // joins the slices that have it
    std::span<const Argument> arguments;
};

// Appends to a text.  On a track, begin() and end() are properly nested, and a track is declared
// before anything is on it; it may be declared again.
class TimelineWriter
{
public:
    TimelineWriter() = default;
    virtual ~TimelineWriter() = default;
    TimelineWriter(const TimelineWriter &) = delete;
    TimelineWriter &operator=(const TimelineWriter &) = delete;

    // First; `start_ns`: a time near the start of the trace.
    virtual void head(uint64_t start_ns, std::string &out) = 0;
    virtual void track(const Track &track, std::string &out) = 0;
    virtual void begin(const Track &track, const TimelineEvent &slice, std::string &out) = 0;
    virtual void end(const Track &track, uint64_t stop_ns, std::string &out) = 0;
    virtual void instant(const Track &track, const TimelineEvent &instant, std::string &out) = 0;
    virtual void counter(const Track &track, uint64_t at_ns, uint64_t value, std::string &out) = 0;
    // Last.
    virtual void tail(std::string &out) = 0;
};
} // namespace nsdump
