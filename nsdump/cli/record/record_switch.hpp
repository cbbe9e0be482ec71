// SPDX-License-Identifier: MIT
// cli: names of signals -> a recording that they start and stop while the program runs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nsprobe/recorder.h>

#include "common/command/arguments.hpp"

namespace nsdump
{
struct SwitchSignals {
    std::string start, stop; // as given: USR1, SIGUSR1, 10, RTMIN+1; empty: none

    bool is_any() const { return !start.empty() || !stop.empty(); }
};

// --start-on-signal and --stop-on-signal.
std::vector<command::Argument> add_switch_options(command::ArgumentSet &arguments,
                                                  SwitchSignals &signals);

// The error message; empty for the name or number of a signal that may be used.
std::string check_switch_signal(const std::string &name);

// Records between signals.  With a signal to start, the recording begins paused.
class RecordSwitch
{
public:
    // From here on, the signals no longer end this process, also if they were blocked or ignored.
    explicit RecordSwitch(const SwitchSignals &signals);
    // In a child process before exec: the program gets them as nsdump did.
    static void restore_signals();

    struct Change {
        std::string words; // to be reported; empty: there was no signal
        bool is_warning = false;
    };

    // Before a process participates.  Throws TraceError, as does follow().
    void begin(nsp_recorder *recorder);
    // How to start the recording; empty if it has started.
    std::string how_to_start() const;
    // Does what signals since the last call asked for.
    Change follow(nsp_recorder *recorder);
    bool is_on() const { return is_on_; }
    // Why it has never been recording; empty if it has.
    std::string why_not_started() const;

private:
    void change(nsp_recorder *recorder, bool is_on);

    SwitchSignals signals_;
    bool is_on_;
    uint32_t starts_ = 0;
    uint32_t seen_ = 0; // signals
};
} // namespace nsdump
