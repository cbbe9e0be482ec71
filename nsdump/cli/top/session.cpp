// SPDX-License-Identifier: MIT
// cli: a running process -> its slices, interval by interval, in memory.
#include "cli/top/session.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include <sys/sysinfo.h>

#include <fmt/format.h>

#include "cli/top/find_process.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
// Each reading has a cost of its own, which is small beside that of so many records.
constexpr auto kReadEvery = std::chrono::milliseconds(20);
constexpr uint64_t kManyBytes = 4 << 20;

Recorder open_in_memory(int fd, const SessionOptions &options, const std::string &slices)
{
    nsp_session_config config = config_of(options);
    config.output = "nsdump top";
    config.has_file = 1;
    config.file = fd;
    config.slices = slices.c_str();
    return open_recorder(config);
}
// One more than the highest number of a CPU that this machine may ever have.
uint32_t possible_cpus()
{
    std::ifstream file("/sys/devices/system/cpu/possible"); // such as 0-3,8-11
    std::string ranges;
    std::getline(file, ranges);
    const size_t last = ranges.find_last_of("-,");
    const std::string number = last == std::string::npos ? ranges : ranges.substr(last + 1);
    const uint32_t highest = uint32_t(std::strtoul(number.c_str(), nullptr, 10));
    return std::max(highest + 1, uint32_t(std::max(1, get_nprocs_conf())));
}
} // namespace

TopSession::TopSession(int pid, const SessionOptions &options, const std::string &slices)
    : process_(pid), pid_(pid), program_(process_name(pid)), ring_bytes_(options.ring_bytes),
      trace_(possible_cpus()), recorder_(open_in_memory(file_.descriptor(), options, slices))
{
    if (nsp_recorder_attach(recorder_.get(), pid) != 0) {
        if (command_was_interrupted())
            throw command::Interrupted();
        throw TraceError(nsp_last_error());
    }
    begin_ = interval_begin_ = next_read_ = Clock::now();
}

void TopSession::read_drained()
{
    if (std::vector<std::byte> part = file_.take(); !part.empty())
        trace_.take(std::move(part));
}

bool TopSession::drain()
{
    const uint64_t taken_bytes = nsp_recorder_pass(recorder_.get());
    if (nsp_recorder_error(recorder_.get()) != 0)
        throw command::OutputError(nsp_last_error());
    const auto now = Clock::now();
    if (now >= next_read_ || file_.new_bytes() >= kManyBytes) {
        read_drained();
        next_read_ = now + kReadEvery;
    }
    return taken_bytes >= ring_bytes_ / 8;
}

TopInterval TopSession::interval_until_now(const nsp_session_counts &counts)
{
    const auto now = Clock::now();
    TopInterval interval;
    interval.live = trace_.end_interval();
    interval.seconds = seconds_between(interval_begin_, now);
    interval.elapsed_s = seconds_between(begin_, now);
    interval.pid = pid_;
    interval.program = program_;
    for (size_t cause = 0; cause < interval.lost.size(); ++cause)
        interval.lost[cause] =
            counts.lost[cause] - std::min(counts.lost[cause], counts_.lost[cause]);
    counts_ = counts;
    interval_begin_ = now;
    return interval;
}

TopInterval TopSession::end_interval()
{
    read_drained();
    nsp_recorder_status status;
    nsp_recorder_status_read(recorder_.get(), &status);
    return interval_until_now(status.counts);
}

TopInterval TopSession::finish(bool has_ended)
{
    nsp_session_counts counts{};
    const int error = nsp_recorder_close(
        recorder_.release(), has_ended ? NSLICE_END_CLOSED : NSLICE_END_INTERRUPTED, &counts);
    if (error != 0)
        throw TraceError(nsp_last_error());
    read_drained();
    TopInterval interval = interval_until_now(counts);
    interval.has_ended = has_ended;
    return interval;
}
} // namespace nsdump
