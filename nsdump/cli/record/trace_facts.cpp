// SPDX-License-Identifier: MIT
// cli: a finished trace -> how it was recorded.
#include "cli/record/trace_facts.hpp"

#include <algorithm>

#include <sys/stat.h>

#include <fmt/format.h>

#include "analyse/selection.hpp"
#include "common/command/counted.hpp"
#include "common/command/tell.hpp"
#include "decode/error.hpp"
#include "decode/file_reader.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
std::string fact(const TraceFile &trace, const std::string &key)
{
    const std::string value = trace.info(key);
    return value.empty() ? "unknown" : printable(value);
}

std::string counters_of(const TraceFile &trace)
{
    if (trace.counter_names().empty())
        return "none";
    std::string names;
    for (const std::string &name : trace.counter_names())
        names += (names.empty() ? "" : ", ") + printable(name);
    const std::string reason = printable(trace.info("counters.reason"));
    return fmt::format("{}, source {}{}", names, fact(trace, "counters.source"),
                       reason.empty() ? "" : " (" + reason + ")");
}

// An empty calibration says that it was switched off.
auto calibrations_at(const TraceFile &trace, uint32_t phase)
{
    const auto &all = trace.calibrations();
    return std::count_if(all.begin(), all.end(), [phase](const Calibration &one) {
        return one.phase == phase && !one.entries.empty();
    });
}

void tell_facts(const TraceFile &trace)
{
    const std::string &name = trace.source().name();
    command::tell("nsdump: {}: clock {}, {}; rings {}, {} bytes per CPU, when full: {}\n", name,
                  fact(trace, "clock.source"), fact(trace, "clock.mode"), fact(trace, "ring.kind"),
                  fact(trace, "ring.bytes"), fact(trace, "ring.full"));
    command::tell("nsdump: {}: counters: {}\n", name, counters_of(trace));
    command::tell("nsdump: {}: calibrations: {} at the start, {} at the end\n", name,
                  calibrations_at(trace, NSLICE_CALIBRATION_START),
                  calibrations_at(trace, NSLICE_CALIBRATION_END));
    for (const CpuChunks &cpu : trace.cpus())
        command::tell("nsdump: {}: {}: {} in {}\n", name, cpu.title(),
                      command::counted(cpu.records, "record"),
                      command::counted(cpu.chunks, "chunk"));
}
// Nothing if the trace is no longer there to be read, such as in a pipe.
template <class Tell> void tell_of(const std::string &path, Tell tell)
{
    struct stat status = {};
    if (stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
        return;
    try {
        tell(TraceFile(path));
    } catch (const TraceError &error) {
        command::tell("nsdump: {}\n", error.what());
    }
}
} // namespace

void tell_selection(const std::string &path)
{
    tell_of(path, [](const TraceFile &trace) {
        for (const std::string &warning : selection_warnings(trace))
            command::tell("nsdump: warning: {}\n", warning);
    });
}

void tell_trace_facts(const std::string &path)
{
    tell_of(path, tell_facts);
}
} // namespace nsdump
