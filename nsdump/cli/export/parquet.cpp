// SPDX-License-Identifier: MIT
// cli: options of `nsdump export --format parquet` -> the Python program that writes the folder.
#include <cerrno>
#include <cstdlib>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/export/formats.hpp"
#include "cli/read/selection.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/file_error/file_error.h"
#include "decode/file_reader.hpp"

namespace nsdump
{
namespace
{
constexpr const char *kProgram = "export_parquet.py";

// Next to this program: in a build tree, or installed.
std::string python_program()
{
    char own[4096];
    const ssize_t bytes = readlink("/proc/self/exe", own, sizeof(own));
    const std::string path(own, bytes > 0 ? size_t(bytes) : 0);
    const std::string folder = path.substr(0, path.rfind('/'));
    for (const std::string &where :
         {folder + "/" NETSLICE_PYTHON_FROM_BIN, folder + "/../share/netslice/python"}) {
        std::string program = where + "/" + kProgram;
        if (access(program.c_str(), R_OK) == 0)
            return program;
    }
    throw command::OutputError(fmt::format(
        "--format parquet: {} is neither in a build tree nor installed beside {} (install the "
        "toolkit with `cmake --install`)",
        kProgram, path));
}

// The times of a range as the Python program takes them: in nanoseconds since the start.
TimeRange range_in_ns(const TimeRange &range, const TraceFile &trace)
{
    ticks_of(range, trace); // refuses a range that cannot be
    const auto ns = [&](const std::string &moment) {
        return moment.empty() ? "" : fmt::format("{}", since_start_ns(moment, trace));
    };
    return {ns(range.from), ns(range.to)};
}

std::vector<std::string> words_of(const ExportOptions &options, const std::string &interpreter,
                                  const TimeRange &range)
{
    // -B: a user who may write to the folder of programs need not leave compiled files there.
    std::vector<std::string> words = {interpreter, "-B", python_program()};
    const auto add = [&](const char *option, const std::string &value) {
        if (!value.empty())
            words.push_back(fmt::format("{}={}", option, value));
    };
    add("--calibration", options.calibration);
    add("--slice", options.selection.slice);
    add("--partition", options.partition);
    add("--compression", options.compression);
    add("--from", range.from);
    add("--to", range.to);
    if (options.selection.unit)
        add("--unit", fmt::format("{}", *options.selection.unit));
    if (options.limit != std::numeric_limits<uint64_t>::max())
        add("--count", fmt::format("{}", options.limit));
    if (options.what == "events")
        words.emplace_back("--events");
    if (options.is_quiet)
        words.emplace_back("--quiet");
    // Standard input is a file by now, see check_trace_name().
    words.insert(words.end(),
                 {"--", options.trace == "-" ? "/dev/stdin" : options.trace, options.output});
    return words;
}

// The Python program takes the place of this one, so that signals reach it and its exit code is
// that of the command.
int write_parquet(const ExportOptions &options)
{
    TimeRange range;
    if (!options.selection.slice.empty() || options.selection.range.is_given()) {
        TraceFile trace(options.trace);
        check_slice(trace, options.selection.slice);
        range = range_in_ns(options.selection.range, trace);
    }
    const char *const chosen = std::getenv("NETSLICE_PYTHON");
    const std::string interpreter = chosen && *chosen ? chosen : "python3";
    std::vector<std::string> words = words_of(options, interpreter, range);
    std::vector<char *> arguments;
    for (std::string &word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    command_restore_write_signals();
    execvp(interpreter.c_str(), arguments.data());
    throw command::OutputError(fmt::format(
        "--format parquet: cannot run {}: {} (install Python 3 with the package pyarrow, or set "
        "NETSLICE_PYTHON to its interpreter)",
        interpreter, nslice_read_error(errno)));
}
} // namespace

const ExportFormat kParquet = {"parquet",
                               "a folder of Parquet files: slices, units, losses; or events",
                               {"slices", "events"},
                               write_parquet,
                               true};
} // namespace nsdump
