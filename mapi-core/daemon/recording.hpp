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
    std::string error; // empty: the trace is complete
};

// A process has one session of probes, so there can only be one recording at a time.
class Recording
{
public:
    // Records into the file of that name, or, with file >= 0, into an open one, which stays the
    // caller's.  Throws Error.
    explicit Recording(const std::string &name, int file = -1, const std::string &slices = {});
    ~Recording(); // ends the recording and logs it
    Recording(const Recording &) = delete;
    Recording &operator=(const Recording &) = delete;

    // Once; the trace is complete when it returns.
    RecordingEnd end();

    // Whether current events are being recorded.
    static bool is_under_way() { return is_under_way_; }

private:
    // also while a recording starts, which first calibrates its probes, or ends
    static std::atomic<bool> is_taken_;
    static std::atomic<bool> is_under_way_;

    const std::string name_;
    bool has_ended_ = false;
};
} // namespace mapi::daemon
