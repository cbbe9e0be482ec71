// SPDX-License-Identifier: MIT
// Recording: mapid's own probes -> a NetSlice trace.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace mapi::daemon
{
struct RecordingEnd {
    uint64_t records = 0; // in the trace
    uint64_t lost = 0;
    uint64_t file_bytes = 0;
    std::string error; // empty: the trace is whole
};

// A process has one session of probes: while there is a recording there is no second one.
class Recording
{
public:
    // To the file of that name, or, file >= 0, to an open one, which stays the caller's.  Throws Error.
    explicit Recording(const std::string &name, int file = -1);
    ~Recording(); // ends it, and logs that
    Recording(const Recording &) = delete;
    Recording &operator=(const Recording &) = delete;

    // The trace is whole when it returns.  Once.
    RecordingEnd end();

    // What happens now is in a trace.
    static bool is_under_way() { return is_under_way_; }

private:
    static std::atomic<bool> is_taken_; // also while one begins, which measures its probes first, or ends
    static std::atomic<bool> is_under_way_;

    const std::string name_;
    bool has_ended_ = false;
};
} // namespace mapi::daemon
