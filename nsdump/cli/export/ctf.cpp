// SPDX-License-Identifier: MIT
// cli: trace -> a folder in the Common Trace Format, CTF 1.8.
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/export/formats.hpp"
#include "cli/read/finish.hpp"
#include "common/command/counted.hpp"
#include "common/command/output.hpp"
#include "common/command/output_folder.hpp"
#include "common/command/signals.h"
#include "common/command/status_line.hpp"
#include "common/command/tell.hpp"
#include "decode/cpu_stream.hpp"
#include "export/ctf/ctf_metadata.hpp"
#include "export/ctf/ctf_stream.hpp"

namespace nsdump
{
namespace
{
using command::counted;

// Writes what the range has of the stream of one CPU, until the user interrupts.
void write_stream(TraceFile &trace, const CpuChunks &cpu, const TickRange &range,
                  command::OutputFolder &folder, command::ReadProgress &progress,
                  StreamFaults &faults)
{
    folder.begin(fmt::format("{}cpu_{}", cpu.is_kernel ? "kernel_" : "", cpu.cpu));
    CtfStream out({trace.header().session_uuid, cpu.is_kernel, cpu.cpu},
                  [&](std::string_view bytes) { folder.write(bytes); });
    CpuStream stream(trace, cpu);
    constexpr uint64_t kProgressBlocks = 1 << 12;
    const bool is_to_end = range.to_ticks == TickRange().to_ticks;
    std::optional<uint64_t> lost_before; // the first event of the range
    const auto set_lost = [&](uint64_t lost) {
        if (!lost_before)
            lost_before = range.from_ticks > 0 ? stream.lost_so_far() : 0;
        out.set_lost(growth(*lost_before, lost));
    };
    for (uint64_t blocks = 1; !command_was_interrupted(); ++blocks) {
        const std::span<const Event> block = stream.next_block();
        if (block.empty())
            break;
        bool is_first = true;
        for (const Event &event : block) {
            if (!range.contains(event.ticks))
                continue;
            if (std::exchange(is_first, false))
                set_lost(stream.lost_so_far());
            trace.names().of_slice(event.slice_id); // the metadata names ids without a site
            out.add(event);
        }
        if (blocks % kProgressBlocks == 0)
            progress.show(stream.offset(), trace.source().size_bytes());
    }
    if (command_was_interrupted())
        return;
    if (is_to_end)
        set_lost(stream.lost_so_far() + trace.lost_at_end(cpu));
    out.finish();
    faults += stream.faults();
    if (out.ticks_back() > 0)
        tell_warning(trace.source().name(),
                     fmt::format("{}: the clock goes back at {}, which have the time of the one "
                                 "before",
                                 cpu.title(), counted(out.ticks_back(), "record")));
}

void tell_losses(const TraceFile &trace, const Losses &losses)
{
    std::string words;
    const auto add = [&](const char *cause, uint64_t count) {
        if (count > 0)
            words += fmt::format("{}{} {}", words.empty() ? "" : ", ", count, cause);
    };
    for (size_t cause = 0; cause < kLostCauses; ++cause)
        add(lost_name(cause), losses.lost[cause]);
    add("other", losses.lost_other + losses.lost_without_cause);
    if (!words.empty())
        tell_warning(trace.source().name(),
                     "lost records by cause, in the metadata as lost_CAUSE: " + words);
}

int export_ctf(const ExportOptions &options)
{
    TraceFile trace(options.trace);
    const TickRange range = ticks_of(options.selection.range, trace);
    command::OutputFolder folder(options.output);
    StreamFaults faults;
    {
        command::ReadProgress progress(!options.is_quiet);
        for (const CpuChunks &cpu : trace.cpus())
            write_stream(trace, cpu, range, folder, progress, faults);
    }
    if (command_was_interrupted()) {
        command::tell("nsdump: interrupted; {} is not written\n", options.output);
        return kExitInterrupted;
    }
    const bool is_damaged = trace.damage().chunks() > 0 || trace.missing_chunks() > 0;
    const Losses losses = losses_of(trace, is_damaged);
    const CtfClock clock = ctf_clock_of(trace);
    folder.begin("metadata");
    folder.write(ctf_metadata(trace, clock, losses));
    folder.finish();
    if (!clock.is_rate_known)
        tell_warning(trace.source().name(),
                     "the rate of the clock is unknown: a tick is shown as a nanosecond");
    tell_losses(trace, losses);
    return finish_reading(trace, faults, true);
}
} // namespace

const ExportFormat kCtf = {"ctf",
                           "a folder of all events for babeltrace2, Trace Compass",
                           {"events"},
                           export_ctf,
                           true,
                           {{"--unit", "a CTF reader selects events itself"},
                            {"--slice", "a CTF reader selects events itself"},
                            {"--count", "a CTF reader selects events itself"}}};
} // namespace nsdump
