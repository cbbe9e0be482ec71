// SPDX-License-Identifier: MIT
// cli: a recorder with error handling for commands.
#include "cli/record/recorder.hpp"

#include <cerrno>
#include <cstdlib>

#include <sys/stat.h>

#include <fmt/format.h>

#include "common/command/counted.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/tell.hpp"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
constexpr int kPipeMilliseconds = 20;
constexpr double kMostSeconds = 1e9;

[[noreturn]] void throw_open_failure(int error)
{
    if (error == -EINVAL)
        throw command::UsageError(nsp_last_error());
    if (error == -ENOTSUP || error == -ENOMEM)
        throw TraceError(nsp_last_error());
    throw command::OutputError(nsp_last_error());
}

bool is_pipe(const char *path)
{
    struct stat status = {};
    return stat(path, &status) == 0 && S_ISFIFO(status.st_mode);
}
} // namespace

Recorder open_recorder(const nsp_session_config &config)
{
    nsp_recorder *recorder = nullptr;
    bool has_reported = false;
    int error;
    while ((error = nsp_recorder_open(&config, &recorder)) == -ENXIO && is_pipe(config.output) &&
           !command_was_interrupted()) {
        if (!has_reported)
            command::tell("nsdump: {}: waiting for a reader of this pipe\n", config.output);
        has_reported = true;
        command_pause(kPipeMilliseconds);
    }
    if (error == -ENXIO && command_was_interrupted())
        throw command::Interrupted();
    if (error != 0)
        throw_open_failure(error);
    return Recorder(recorder);
}

// NaN fails both comparisons.
std::string is_duration(const std::string &text)
{
    char *end = nullptr;
    const double seconds = std::strtod(text.c_str(), &end);
    const bool is_good = end != text.c_str() && *end == 0 && seconds > 0 && seconds <= kMostSeconds;
    return is_good ? "" : "\"" + text + "\" is not a duration in seconds (above 0, up to 1e9)";
}

void tell_losses(const nsp_session_counts &counts, const char *whose, const char *ring_option)
{
    const std::string full = fmt::format("ring full (use a larger {})", ring_option);
    const char *const causes[NSLICE_LOST_CAUSES] = {
        full.c_str(),      "overwritten by newer records", "ring busy",
        "session closing", "file could not be written",    "writer died mid-record"};
    for (int cause = 0; cause < NSLICE_LOST_CAUSES; ++cause)
        if (counts.lost[cause] > 0)
            command::tell("nsdump: warning: {} lost: {}\n",
                          command::counted(counts.lost[cause], std::string(whose) + "record"),
                          causes[cause]);
}
} // namespace nsdump
