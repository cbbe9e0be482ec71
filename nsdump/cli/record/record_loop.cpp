// SPDX-License-Identifier: MIT
// cli: an open recorder -> records drained until the end, and why it ended; with a progress line.
#include "cli/record/record_loop.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "common/command/counted.hpp"
#include "common/command/signals.h"
#include "common/command/status_line.hpp"
#include "common/command/tell.hpp"

namespace nsdump
{
namespace
{
constexpr int kPollMilliseconds = 1;
constexpr double kGraceSeconds = 1;
constexpr double kMaxFarewellSeconds = 10; // for descendants that start more of them
constexpr double kProgressSeconds = 0.2;
constexpr double kNever = std::numeric_limits<double>::infinity();

nsp_recorder_status status_of(nsp_recorder *recorder)
{
    nsp_recorder_status status;
    nsp_recorder_status_read(recorder, &status);
    return status;
}

class RecordProgress
{
public:
    RecordProgress(bool is_of_process, const RecordLimits &limits)
        : line_(!limits.is_quiet), is_of_process_(is_of_process), is_verbose_(limits.is_verbose),
          is_quiet_(limits.is_quiet), switched_(limits.switched)
    {
    }
    void tell_change(const RecordSwitch::Change &change, double elapsed_s)
    {
        if (change.words.empty() || (is_quiet_ && !change.is_warning))
            return;
        line_.clear();
        command::tell("nsdump: {}{:.3f} s: {}\n", change.is_warning ? "warning: " : "", elapsed_s,
                      change.words);
    }
    void tell_joined(nsp_recorder *recorder, Child *child, double elapsed_s)
    {
        const uint32_t joined = is_verbose_ ? status_of(recorder).joined : joined_;
        if (joined == joined_)
            return;
        joined_ = joined;
        const std::string names = child ? child->descendants().names_now(recorder) : "";
        line_.clear();
        command::tell("nsdump: {:.1f} s: {} taken part{}{}\n", elapsed_s,
                      command::counted(joined, "process has", "processes have"),
                      names.empty() ? "" : "; now ", names);
    }
    void show(nsp_recorder *recorder, double elapsed_s)
    {
        if (!line_.is_on() || elapsed_s < next_s_)
            return;
        next_s_ = elapsed_s + kProgressSeconds;
        const nsp_recorder_status status = status_of(recorder);
        uint64_t lost = 0;
        for (const uint64_t count : status.counts.lost)
            lost += count;
        const std::string of_kernel =
            status.kernel_records > 0
                ? " and " + command::counted(status.kernel_records, "kernel record")
                : "";
        const std::string left_out =
            switched_ ? fmt::format(", {} left out while paused", nsp_recorder_left_out(recorder))
                      : "";
        line_.show(fmt::format(
            "{} {:.1f} s: {}{}, {:.1f} MB, {} lost{}{}",
            switched_ && !switched_->is_on() ? "paused at" : "recording", elapsed_s,
            command::counted(status.counts.drained, "record"), of_kernel,
            double(status.counts.file_bytes) / 1e6, lost, left_out,
            status.joined == 0 && is_of_process_ ? ", no process participates yet" : ""));
    }

private:
    command::StatusLine line_;
    bool is_of_process_;
    bool is_verbose_;
    bool is_quiet_;
    const RecordSwitch *switched_; // null: records all the time
    uint32_t joined_ = 0;
    double next_s_ = 0;
};

std::optional<RecordEnd> reason_to_end(nsp_recorder *recorder, const RecordLimits &limits,
                                       double elapsed_s)
{
    if (nsp_recorder_error(recorder) != 0)
        return RecordEnd::kWriteError;
    if (command_was_interrupted())
        return RecordEnd::kInterrupted;
    if (limits.seconds > 0 && elapsed_s >= limits.seconds)
        return RecordEnd::kTimeOver;
    const nsp_recorder_status status = status_of(recorder);
    if (status.refused > 0 && status.joined == 0)
        return RecordEnd::kRefused;
    return std::nullopt;
}

// Asks a program to end and gives it time.  A Ctrl-C on the terminal has reached it as well, so it
// may end by itself.
class Farewell
{
public:
    explicit Farewell(Child *child) : child_(child) {}

    bool is_over(RecordEnd reason, double elapsed_s)
    {
        if (!child_)
            return true;
        begin_s_ = std::min(begin_s_, elapsed_s);
        if (reported_s_ == kNever &&
            (reason != RecordEnd::kInterrupted || elapsed_s > begin_s_ + kGraceSeconds)) {
            child_->terminate();
            reported_s_ = elapsed_s;
        }
        const std::string left = child_->poll()
                                     ? child_->descendants().names()
                                     : fmt::format("the program (process {})", child_->pid());
        // Ctrl-C does not reach a daemon.
        if (child_->poll() && child_->descendants().terminate_new())
            reported_s_ = elapsed_s;
        if (elapsed_s < std::min(reported_s_, begin_s_ + kMaxFarewellSeconds) + kGraceSeconds)
            return false;
        if (!left.empty())
            command::tell("nsdump: warning: {} received SIGTERM and still runs\n", left);
        return true;
    }

private:
    Child *child_;
    double begin_s_ = kNever, reported_s_ = kNever;
};
} // namespace

RecordEnd record_until_end(nsp_recorder *recorder, const RecordLimits &limits, Child *child,
                           const RunningProcess *attached)
{
    const auto begin = std::chrono::steady_clock::now();
    RecordProgress progress(child || attached, limits);
    Farewell farewell(child);
    std::optional<RecordEnd> reason;
    for (;;) {
        const bool has_ended =
            child ? child->poll().has_value() : attached && attached->has_ended();
        const double elapsed_s =
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        uint64_t taken_bytes = 0;
        if (limits.switched)
            progress.tell_change(limits.switched->follow(recorder), elapsed_s);
        if (limits.is_overwrite)
            nsp_recorder_watch(recorder);
        else
            taken_bytes = nsp_recorder_pass(recorder);
        progress.tell_joined(recorder, child, elapsed_s);
        progress.show(recorder, elapsed_s);
        if (!reason)
            reason = reason_to_end(recorder, limits, elapsed_s);
        if (has_ended &&
            !(child && child->descendants().take_part(recorder, elapsed_s, reason.has_value())))
            return reason.value_or(RecordEnd::kProgramEnded);
        if (reason && farewell.is_over(*reason, elapsed_s))
            return *reason;
        if (taken_bytes < limits.ring_bytes / 8)
            command_pause(kPollMilliseconds);
    }
}
} // namespace nsdump
