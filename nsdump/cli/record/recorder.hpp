// SPDX-License-Identifier: MIT
// cli: a recorder with error handling for commands: exceptions with exit codes, messages on losses.
#pragma once

#include <memory>
#include <string>

#include <nsprobe/recorder.h>

namespace nsdump
{
struct CloseRecorder {
    void operator()(nsp_recorder *recorder) const
    {
        nsp_recorder_close(recorder, NSLICE_END_INTERRUPTED, nullptr);
    }
};
using Recorder = std::unique_ptr<nsp_recorder, CloseRecorder>;

// Waits for the reader of a named pipe.  Throws UsageError, TraceError, OutputError or Interrupted.
Recorder open_recorder(const nsp_session_config &config);

// Checks a number of seconds; returns the error message, empty if it is valid.
std::string is_duration(const std::string &text);

// Prints one line for each cause to standard error.  `whose` qualifies the records; `ring_option`
// sets the ring size.
void tell_losses(const nsp_session_counts &counts, const char *whose = "",
                 const char *ring_option = "--ring");
} // namespace nsdump
