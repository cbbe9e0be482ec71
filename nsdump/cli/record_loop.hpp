// SPDX-License-Identifier: MIT
// cli: a recorder that is fed -> why it ended.
#pragma once

#include <cstdint>

#include <nsprobe/recorder.h>

#include "cli/child.hpp"

namespace nsdump
{
struct RecordLimits {
    double seconds = 0; // 0: no limit
    std::uint64_t ring_bytes = 0;
    bool is_overwrite = false;
};

enum class RecordEnd {
    kProgramEnded,
    kInterrupted,
    kTimeOver,
    kRefused,    // nobody takes part, and one process has told why it cannot
    kWriteError,
};

// Drains until the program and those of its descendants that take part have ended (child, or else attached; neither where only the kernel is recorded) or there is a reason to stop; a program started here
// is told to end then, and has a moment for it.
RecordEnd record_until_end(nsp_recorder *recorder, const RecordLimits &limits, Child *child,
                           const RunningProcess *attached);
} // namespace nsdump
