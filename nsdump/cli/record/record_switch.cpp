// SPDX-License-Identifier: MIT
// cli: names of signals -> a recording that they start and stop while the program runs.
#include "cli/record/record_switch.hpp"

#include <array>
#include <atomic>
#include <charconv>
#include <csignal>

#include <unistd.h>

#include <fmt/format.h>

#include "common/command/counted.hpp"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
struct Refused {
    int number;
    const char *why;
};
constexpr const char *kEnds = "ends the recording";
constexpr const char *kCrash = "reports an error of nsdump itself";
constexpr const char *kJobs = "belongs to the shell's job control";
constexpr const char *kWrites = "must not end nsdump when the trace cannot be written";
constexpr const char *kNever = "cannot be caught";
constexpr std::array kRefused = {
    Refused{SIGKILL, kNever},
    Refused{SIGSTOP, kNever},
    Refused{SIGINT, kEnds},
    Refused{SIGTERM, kEnds},
    Refused{SIGHUP, kEnds},
    Refused{SIGQUIT, kEnds},
    Refused{SIGPIPE, kWrites},
    Refused{SIGXFSZ, kWrites},
    Refused{SIGCHLD, "comes when the program ends"},
    Refused{SIGTSTP, kJobs},
    Refused{SIGCONT, kJobs},
    Refused{SIGTTIN, kJobs},
    Refused{SIGTTOU, kJobs},
    Refused{SIGSEGV, kCrash},
    Refused{SIGBUS, kCrash},
    Refused{SIGFPE, kCrash},
    Refused{SIGILL, kCrash},
    Refused{SIGABRT, kCrash},
    Refused{SIGTRAP, kCrash},
    Refused{SIGSYS, kCrash},
};

// 0: no number.
int number_in(const std::string &text)
{
    int number = 0;
    const char *const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    return error == std::errc() && at == end && number > 0 ? number : 0;
}

// 0: unknown.
int signal_of(const std::string &name)
{
    const std::string text = name.starts_with("SIG") ? name.substr(3) : name;
    if (text == "RTMIN" || text == "RTMAX")
        return text == "RTMIN" ? SIGRTMIN : SIGRTMAX;
    if (text.starts_with("RTMIN+")) {
        const int more = number_in(text.substr(6));
        return more > 0 && more <= SIGRTMAX - SIGRTMIN ? SIGRTMIN + more : 0;
    }
    if (text.starts_with("RTMAX-")) {
        const int less = number_in(text.substr(6));
        return less > 0 && less <= SIGRTMAX - SIGRTMIN ? SIGRTMAX - less : 0;
    }
    for (int number = 1; number < NSIG; ++number)
        if (const char *known = sigabbrev_np(number); known && text == known)
            return number;
    const int number = number_in(name);
    return number <= SIGRTMAX ? number : 0;
}

std::string name_of(int number)
{
    if (const char *name = sigabbrev_np(number))
        return name;
    return number == SIGRTMIN ? "RTMIN" : fmt::format("RTMIN+{}", number - SIGRTMIN);
}

// What the handler has got: twice the number of signals, plus 1 if it is to record.
std::atomic<uint32_t> received;
std::atomic<bool> has_start_come;
static_assert(std::atomic<uint32_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);
int start_signal, stop_signal; // 0: none
struct sigaction start_before, stop_before;
sigset_t blocked_before;

void on_signal(int number)
{
    const bool starts = number == start_signal, stops = number == stop_signal;
    if (starts)
        has_start_come = true;
    uint32_t before = received.load(), after;
    do {
        const uint32_t is_on = starts && stops ? ~before & 1 : starts ? 1 : 0;
        after = (((before >> 1) + 1) << 1) | is_on;
    } while (!received.compare_exchange_weak(before, after));
}

void catch_signal(int number, struct sigaction &before)
{
    struct sigaction action = {};
    action.sa_handler = on_signal;
    action.sa_flags = SA_RESTART;
    if (number != 0)
        sigaction(number, &action, &before);
}

void unblock_signals()
{
    sigset_t signals;
    sigemptyset(&signals);
    for (const int number : {start_signal, stop_signal})
        if (number != 0)
            sigaddset(&signals, number);
    sigprocmask(SIG_UNBLOCK, &signals, &blocked_before);
}

const char *state_name(bool is_on)
{
    return is_on ? "recording" : "paused";
}
} // namespace

std::string check_switch_signal(const std::string &name)
{
    const int number = signal_of(name);
    if (number == 0)
        return fmt::format("\"{}\" is not a signal (use a name such as USR1 or RTMIN+1, or a "
                           "number; `kill -l` lists them)",
                           name);
    if (number > SIGSYS && number < SIGRTMIN)
        return fmt::format("signal {} is reserved by the C library (use USR1 or USR2)", number);
    for (const Refused &refused : kRefused)
        if (refused.number == number)
            return fmt::format("signal {} {} (use USR1 or USR2)", name_of(number), refused.why);
    return "";
}

std::vector<command::Argument> add_switch_options(command::ArgumentSet &arguments,
                                                  SwitchSignals &signals)
{
    const command::Argument start =
        arguments
            .add("--start-on-signal", signals.start,
                 "begin paused; record once nsdump receives this signal, e.g. USR1")
            .kind("SIGNAL")
            .check(check_switch_signal);
    const command::Argument stop =
        arguments
            .add("--stop-on-signal", signals.stop,
                 "pause when nsdump receives this signal; if it is the same, each one switches")
            .kind("SIGNAL")
            .check(check_switch_signal);
    return {start, stop};
}

RecordSwitch::RecordSwitch(const SwitchSignals &signals)
    : signals_(signals), is_on_(signals.start.empty()), starts_(is_on_ ? 1 : 0)
{
    start_signal = signals.start.empty() ? 0 : signal_of(signals.start);
    stop_signal = signals.stop.empty() ? 0 : signal_of(signals.stop);
    received = is_on_ ? 1 : 0;
    has_start_come = false;
    catch_signal(start_signal, start_before);
    if (stop_signal != start_signal)
        catch_signal(stop_signal, stop_before);
    unblock_signals();
}

void RecordSwitch::restore_signals()
{
    if (start_signal != 0)
        sigaction(start_signal, &start_before, nullptr);
    if (stop_signal != 0 && stop_signal != start_signal)
        sigaction(stop_signal, &stop_before, nullptr);
    sigprocmask(SIG_SETMASK, &blocked_before, nullptr);
}

void RecordSwitch::change(nsp_recorder *recorder, bool is_on)
{
    if ((is_on ? nsp_recorder_resume(recorder) : nsp_recorder_pause(recorder)) != 0)
        throw TraceError(nsp_last_error());
    is_on_ = is_on;
}

void RecordSwitch::begin(nsp_recorder *recorder)
{
    if (!is_on_)
        change(recorder, false);
}

std::string RecordSwitch::how_to_start() const
{
    return is_on_ ? "" : fmt::format("kill -{} {}", name_of(start_signal), getpid());
}

std::string RecordSwitch::why_not_started() const
{
    if (starts_ > 0)
        return "";
    if (!has_start_come)
        return fmt::format("no signal {} came", signals_.start);
    return fmt::format("signal {} came, but another paused again before the recording began",
                       signals_.start);
}

RecordSwitch::Change RecordSwitch::follow(nsp_recorder *recorder)
{
    const uint32_t now = received.load(), signals = (now >> 1) - seen_;
    const bool is_wanted = (now & 1) != 0;
    if (signals == 0)
        return {};
    seen_ = now >> 1;
    const std::string counted = command::counted(signals, "signal");
    if (is_wanted == is_on_ && signals > 1)
        return {fmt::format("{} at almost the same time: still {}", counted, state_name(is_on_)),
                true};
    if (is_wanted == is_on_)
        return {fmt::format("{} had no effect: it is {} already", counted, state_name(is_on_)),
                true};
    change(recorder, is_wanted);
    starts_ += is_wanted ? 1 : 0;
    if (signals == 1)
        return {state_name(is_on_), false};
    return {fmt::format("{} after {} at almost the same time", state_name(is_on_), counted), true};
}
} // namespace nsdump
