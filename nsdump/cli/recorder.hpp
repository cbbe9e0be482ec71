// SPDX-License-Identifier: MIT
// cli: a recorder with the failures of a command: exceptions with an exit code, words about what was lost.
#pragma once

#include <memory>
#include <string>

#include <nsprobe/recorder.h>

namespace nsdump
{
struct CloseRecorder {
    void operator()(nsp_recorder *recorder) const { nsp_recorder_close(recorder, NSLICE_END_INTERRUPTED, nullptr); }
};
using Recorder = std::unique_ptr<nsp_recorder, CloseRecorder>;

// A named pipe may get its reader after us.  Throws UsageError, TraceError, OutputError or Interrupted.
Recorder open_recorder(const nsp_session_config &config);

// What is wrong with a number of seconds; empty: nothing.
std::string is_duration(const std::string &text);

// Lines on standard error, one for each cause.  `whose`: whose records; `ring_option` makes the ring larger.
void tell_losses(const nsp_session_counts &counts, const char *whose = "", const char *ring_option = "--ring");
} // namespace nsdump
