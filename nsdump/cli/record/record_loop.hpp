// SPDX-License-Identifier: MIT
// cli: an open recorder -> records drained until the end, and why it ended.
#pragma once

#include <cstdint>

#include <nsprobe/recorder.h>

#include "cli/record/child.hpp"
#include "cli/record/record_switch.hpp"

namespace nsdump
{
struct RecordLimits {
    double seconds = 0; // 0: no limit
    uint64_t ring_bytes = 0;
    bool is_overwrite = false;
    bool is_quiet = false;            // no progress line
    bool is_verbose = false;          // report processes as they begin to take part
    RecordSwitch *switched = nullptr; // by signals; null: records all the time
};

enum class RecordEnd {
    kProgramEnded,
    kInterrupted,
    kTimeOver,
    kRefused, // no process participates, and at least one has reported why it cannot
    kWriteError,
};

// Drains until the program (child or attached; neither if only the kernel is recorded) and those of
// its descendants that take part have ended, or until there is a reason to stop.  In the latter
// case a program started here receives SIGTERM and a moment to exit.
RecordEnd record_until_end(nsp_recorder *recorder, const RecordLimits &limits, Child *child,
                           const RunningProcess *attached);
} // namespace nsdump
