// SPDX-License-Identifier: MIT
// analyse: a trace file -> its report.
#include "analyse/analyse.hpp"

#include <algorithm>
#include <limits>
#include <string_view>
#include <thread>

#include <sched.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analyse/by_cpu/by_cpu.hpp"
#include "analyse/incomplete.hpp"
#include "analyse/kernel_slices.hpp"
#include "analyse/nesting_seen.hpp"
#include "analyse/pair/in_range.hpp"
#include "analyse/pair/user_and_kernel.hpp"
#include "analyse/selection.hpp"
#include "analyse/statistics/stats.hpp"
#include "analyse/statistics/summarise.hpp"
#include "analyse/thinning/ordinary_slices.hpp"
#include "analyse/thinning/thinning.hpp"
#include "common/command/counted.hpp"
#include "decode/merge.hpp"

namespace nsdump
{
namespace
{
using command::counted;

constexpr uint64_t kProgressRuns = 1 << 10;

std::string uuid_text(const std::array<uint8_t, 16> &uuid)
{
    std::string text;
    for (size_t i = 0; i < uuid.size(); ++i) {
        if (i == 4 || i == 6 || i == 8 || i == 10)
            text += '-';
        text += fmt::format("{:02x}", uuid[i]);
    }
    return text;
}

void describe(TraceFile &trace, const Correction &correction, StatsReport &report)
{
    report.path = trace.source().name();
    report.bytes = trace.source().size_bytes();
    report.format_version = trace.header().version;
    report.session_uuid = uuid_text(trace.header().session_uuid);
    report.end = trace.footer() ? end_name(trace.footer()->end) : "missing";
    report.info = trace.info();
    report.clock = clock_of(trace);
    report.counter_names = trace.counter_names();
    report.counter_source = trace.info("counters.source");
    report.kernel_counter_names = trace.kernel_counter_names();
    report.calibration_kernel = correction.kernel_start();
    report.calibration_kernel_end = correction.kernel_end();
    report.calibration_start = correction.start();
    report.calibration_end = correction.end();
    report.drift = correction.drift();
    report.warnings = correction.warnings();
    for (std::string &warning : selection_warnings(trace))
        report.warnings.push_back(std::move(warning));
}

// Calls of functions that are not recorded, or not to their end.
void tell_missing_functions(StatsReport &report)
{
    constexpr std::pair<const char *, const char *> kCounted[] = {
        {"functions.too_deep",
         "are not recorded: they were nested too deeply for the kernel, which "
         "traps 64 returns of a thread"},
        {"functions.traps_left", "are not recorded: calls that were left by longjmp() had all of "
                                 "the 64 returns of their thread that the kernel traps, until a "
                                 "recorded function around them returns"},
        {"functions.end_unknown", "have no known end: they were left by longjmp() or a switch of "
                                  "stacks, and their slices end where that was noticed"}};
    for (const auto &[key, words] : kCounted)
        if (const auto found = report.info.find(key);
            found != report.info.end() && found->second != "0")
            report.warnings.push_back(
                fmt::format("{} calls of functions {}", found->second, words));
    const std::string skipped = "functions.not_recorded.";
    for (auto at = report.info.lower_bound(skipped);
         at != report.info.end() && at->first.starts_with(skipped); ++at)
        report.warnings.push_back(fmt::format("{} calls of functions are not recorded: {}",
                                              at->second, at->first.substr(skipped.size())));
    if (const auto names = report.info.find("functions.refused"); names != report.info.end())
        report.warnings.push_back("functions that could not be recorded: " + names->second);
}

// The kernel traps no more returns of a thread than slices may be open.
void tell_calls_left_open(StatsReport &report)
{
    uint64_t calls = 0;
    for (const SliceReport &slice : report.slices)
        if (slice.way != 0 && slice.way <= kKernelWays)
            calls += slice.too_deep;
    if (calls > 0)
        report.warnings.push_back(fmt::format(
            "{} calls of functions have no slice: others that were left, as by longjmp(), stay "
            "open "
            "until a recorded function around them returns, and a thread has 64 open slices",
            calls));
}

// Kernel groups and tracepoints that were requested but are not in the trace.
void tell_what_kernel_lacks(StatsReport &report)
{
    constexpr std::string_view kMissing = "kernel.missing.";
    for (const auto &[key, value] : report.info)
        if (key.substr(0, kMissing.size()) == kMissing)
            report.warnings.push_back(fmt::format(
                "group {}: the kernel of this trace has no tracepoint {}: its records are missing",
                key.substr(kMissing.size()), value));
    constexpr std::string_view kNotRun = "kernel.recorder.missed.";
    std::vector<std::string> not_run;
    for (const auto &[key, value] : report.info)
        if (key.substr(0, kNotRun.size()) == kNotRun)
            not_run.push_back(fmt::format("{} {}", key.substr(kNotRun.size()), value));
    if (const auto missed = report.info.find("kernel.recorder.missed"); missed != report.info.end())
        report.warnings.push_back(fmt::format(
            "the kernel did not run a program of its recorder {} times{}, because it would have "
            "interrupted itself: these records are missing",
            missed->second, not_run.empty() ? "" : fmt::format(" ({})", fmt::join(not_run, ", "))));
    if (const auto foreign = report.info.find("kernel.recorder.foreign");
        foreign != report.info.end())
        report.warnings.push_back(
            fmt::format("{} records that BPF programs wrote are not of their own probes, and are "
                        "counted as torn",
                        foreign->second));
    tell_missing_functions(report);
    tell_calls_left_open(report);
    const auto refused = report.info.find("kernel.groups.refused"),
               reason = report.info.find("kernel.groups.refused.reason");
    if (refused != report.info.end())
        report.warnings.push_back(
            fmt::format("the kernel's groups {} were not recorded: {}", refused->second,
                        reason != report.info.end() ? reason->second : "no reason given"));
}

void tell_losses(StatsReport &report)
{
    if (!report.losses.has_footer)
        report.warnings.emplace_back(kNoFooter);
    if (report.losses.lost_sum() > 0)
        report.warnings.push_back(report.losses.lost_words());
    if (report.losses.equation_holds == false)
        report.warnings.push_back("the loss equation does not hold (run `nsdump check`)");
    if (report.losses.kernel_totals_missing)
        report.warnings.push_back("the kernel's totals are missing: its losses are unknown");
    if (report.losses.unnamed_kernel_sites > 0)
        report.warnings.push_back(
            fmt::format("{} in the kernel recorded nothing: no slice number was left",
                        counted(report.losses.unnamed_kernel_sites, "probe")));
    if (report.losses.dropped_sites > 0)
        report.warnings.push_back(fmt::format("{} did not fit the site table",
                                              counted(report.losses.dropped_sites, "site")));
    if (report.damaged_chunks > 0)
        report.warnings.push_back(fmt::format("{}, {} not read",
                                              counted(report.damaged_chunks, "damaged place"),
                                              counted(report.damaged_bytes, "byte")));
    if (report.missing_chunks > 0)
        report.warnings.push_back(
            counted(report.missing_chunks, "chunk is missing", "chunks are missing"));
}

// Marks the figures that depend on missing parts.
void mark_incomplete(TraceFile &trace, const StreamFaults &faults, bool is_part,
                     StatsReport &report)
{
    const Incomplete found = report.is_interrupted || is_part
                                 ? incomplete_so_far(trace, faults)
                                 : incomplete_of(trace, report.losses, faults);
    const auto mark = [&](auto &figures) {
        for (auto &one : figures)
            one.is_incomplete = one.is_kernel ? found.kernel : found.programs;
    };
    mark(report.slices);
    for (SliceReport &slice : report.slices) // functions are in the kernel's chunks
        slice.is_incomplete |= slice.way != 0 && slice.way <= kKernelWays && found.kernel;
    mark(report.units);
    mark(report.marks);
    report.incomplete = found.reasons;
    for (const std::string &reason : found.reasons)
        report.warnings.push_back(kIncompletePrefix + reason);
}

// What a range of time changes in the figures.
void tell_range(const ReadPlan &plan, const TraceFile &trace, StatsReport &report)
{
    const uint64_t zero_ticks = zero_ticks_of(trace, report.clock);
    const auto ns = [&](uint64_t ticks) {
        return report.clock.hz > 0 ? report.clock.ns(double(ticks - std::min(zero_ticks, ticks)))
                                   : 0;
    };
    report.range = ReportRange{};
    if (plan.selected().from_ticks > 0)
        report.range->from_ns = ns(plan.selected().from_ticks);
    if (plan.selected().to_ticks < std::numeric_limits<uint64_t>::max())
        report.range->to_ns = ns(plan.selected().to_ticks);
    report.warnings.emplace_back("range: figures are of what ends in it; losses are those of the "
                                 "whole recording");
    if (std::ranges::any_of(trace.cpus(),
                            [](const CpuChunks &cpu) { return cpu.early_chunks > 0; }))
        report.warnings.emplace_back(
            "range: the clock goes backwards between chunks, so that more of "
            "them may have records of the range");
    if (report.classes.unmatched_stop > 0)
        report.warnings.push_back(
            fmt::format("range: {} no START in it or shortly before: excluded",
                        counted(report.classes.unmatched_stop, "STOP has", "STOPs have")));
    if (report.thinning || report.program_thinning)
        report.warnings.emplace_back("range: net values are by calibration only, since random "
                                     "thinning compares all epochs of a recording");
}

std::string drift_text(const Drift &drift, const StatsReport &report)
{
    const CpuDrift moved = drift.on_cpu.value_or(CpuDrift{0, drift.start, drift.end});
    return fmt::format(
        "calibration drift{}: {} {} of {} went from {:.2f} to {:.2f}{}; intervals reach both",
        drift.is_kernel ? " of the kernel's probes" : "", probe_name(drift.probe),
        drift.is_inner ? "inner" : "outer",
        field_name(drift.field,
                   drift.is_kernel ? report.kernel_counter_names : report.counter_names),
        moved.start, moved.end, drift.on_cpu ? fmt::format(" on CPU {}", moved.cpu) : "");
}

// Warns of constants that drifted and of counters without constants.
void tell_constants(TraceFile &trace, const Correction &correction, StatsReport &report)
{
    for (const Drift &drift : report.drift)
        if (drift.is_significant)
            report.warnings.push_back(drift_text(drift, report));
    for (unsigned field = 1; field <= report.counter_names.size() && !trace.cpus().empty(); ++field)
        if (correction.has_constants() && !correction.of(0, field).is_known)
            report.warnings.push_back(
                fmt::format("{} was not calibrated: only raw values are shown",
                            field_name(field, report.counter_names)));
    const size_t last = trace.cpus().size() - 1; // a kernel ring, if there is any
    for (unsigned field = 1; field <= report.kernel_counter_names.size() && trace.has_kernel();
         ++field)
        if (correction.of(last, 0).is_known && !correction.of(last, field).is_known)
            report.warnings.push_back(fmt::format(
                "{} of the kernel's slices was not calibrated: only raw values are shown",
                field_name(field, report.kernel_counter_names)));
}

// Losses themselves have a line of their own.
void tell_missing_records(StatsReport &report)
{
    if (const std::string words = report.pauses.words(); !words.empty())
        report.warnings.push_back(words);
    if (report.classes.spans_loss > 0)
        report.warnings.push_back(
            fmt::format("{} open while records were {}: excluded",
                        counted(report.classes.spans_loss, "slice was", "slices were"),
                        report.pauses.left_out == 0 ? "lost" : "lost or left out"));
}

void tell_quality(TraceFile &trace, const Correction &correction, const StreamFaults &faults,
                  StatsReport &report)
{
    tell_constants(trace, correction, report);
    if (const std::string warning = foreign_threads_warning(trace); !warning.empty())
        report.warnings.push_back(warning);
    if (trace.info("clock.invariant") == "no")
        report.warnings.push_back(
            "the clock rate is not constant: ticks are not comparable over time");
    if (faults.ticks_back > 0)
        report.warnings.push_back("the clock goes backwards in " +
                                  counted(faults.ticks_back, "chunk"));
    if (report.classes.malformed > 0)
        report.warnings.push_back(
            fmt::format("{} not have the number of words of their kind",
                        counted(report.classes.malformed, "record does", "records do")));
    tell_missing_records(report);
    if (report.classes.crossed > 0)
        report.warnings.push_back(
            fmt::format("{} others of the same thread, as with coroutines: excluded, since each "
                        "contains part of another",
                        counted(report.classes.crossed, "slice crosses", "slices cross")));
    if (report.classes.uncounted_kernel > 0)
        report.warnings.push_back(fmt::format(
            "{} a time but no counters: kernel counters are per "
            "CPU, and the thread left the CPU "
            "inside the slice or the CPU lacked the counter",
            counted(report.classes.uncounted_kernel, "kernel slice has", "kernel slices have")));
    if (report.classes.uncounted > report.classes.uncounted_kernel)
        report.warnings.push_back(
            fmt::format("{} a time but no counters: a counter lost its register to "
                        "another user of the "
                        "PMU (use fewer), a thread could not open its own (ulimit -n: one "
                        "descriptor per thread and "
                        "counter), or source papi was read in a forked child or a signal handler",
                        counted(report.classes.uncounted - report.classes.uncounted_kernel,
                                "slice has", "slices have")));
    if (report.is_interrupted)
        report.warnings.push_back("interrupted: the figures cover only the part that was read");
}

std::string nothing_off(bool has_nested)
{
    return std::string("random thinning switched nothing off: ") +
           (has_nested
                ? "there are slices or marks inside others, but none was found before the end of "
                  "the recording, which may be too short (record for a second or longer; only the "
                  "first 256 names are looked at)"
                : "no slice or mark lies inside another") +
           ", so all net values are by calibration";
}

void tell_doubtful(uint64_t slices, StatsReport &report)
{
    if (slices > 0)
        report.warnings.push_back(
            fmt::format("{} before and a STOP after its probes were off, which need not belong "
                        "together: excluded",
                        counted(slices, "slice has a START", "slices have a START")));
}

// What becomes of the programs' slices: the sink gives them to the statistics.
template <class Sink> struct Programs {
    Sink &sink;
    StatsCollector &statistics;
    Thinning *thinning;       // null if the trace has no epochs
    StatsCollector *complete; // only with thinning: slices with all probes on
};

void add_losses(TraceFile &trace, const StreamFaults &faults, StatsReport &report)
{
    report.records = faults.decoded;
    report.losses = losses_of(trace, trace.damage().chunks() > 0 || trace.missing_chunks() > 0);
    report.pauses = pauses_of(trace);
    report.damaged_bytes = trace.damage().bytes();
    report.damaged_chunks = trace.damage().chunks();
    report.missing_chunks = trace.missing_chunks();
    report.damage = trace.damage().places();
    report.classes.unknown_kind = faults.unknown_kind;
}

void add_side(TraceFile &trace, bool is_kernel, const Unpaired &unpaired,
              StatsCollector &statistics, const AnalyseOptions &options, StatsReport &report)
{
    const LineError line = line_error_of(report.info, report.clock.hz / 1e9);
    summarise(trace.names(), unpaired, statistics,
              {is_kernel, is_kernel ? report.kernel_counter_names : report.counter_names,
               options.keeps_histograms, line},
              report);
}

void tell_all(TraceFile &trace, const Correction &correction, const StreamFaults &faults,
              bool has_plan, StatsReport &report)
{
    tell_what_kernel_lacks(report);
    mark_incomplete(trace, faults, has_plan, report);
    tell_losses(report);
    tell_quality(trace, correction, faults, report);
}

// Returns whether the kernel has slices or marks inside others.
template <class Sink>
bool read_all(TraceFile &trace, const Correction &correction, const AnalyseOptions &options,
              const Programs<Sink> &programs, StatsReport &report)
{
    KernelSlices kernel(trace, report.clock, correction, options.use_thinning && !options.plan);
    RangeGate gate(options.plan ? options.plan->selected().from_ticks : 0);
    InRange programs_in_range(gate, programs.sink);
    InRange kernel_in_range(gate, kernel);
    UserAndKernelPairs sides(trace, programs_in_range, kernel_in_range);
    Merger merger(trace, options.plan ? Order::kTime : pairing_order(trace), options.plan);
    Run run;
    uint64_t runs = 0, records_in_range = 0;
    while (merger.next(run)) {
        gate.note(run);
        records_in_range += run.is_lead_in ? 0 : run.events.size();
        if (programs.thinning)
            programs.thinning->consume(run);
        kernel.consume(run);
        sides.consume(run);
        if (++runs % kProgressRuns == 0 && options.progress &&
            !options.progress(merger.position_bytes(), report.bytes)) {
            report.is_interrupted = true;
            break;
        }
    }
    if (merger.has_plan())
        sides.finish_range();
    else
        sides.finish();
    const StreamFaults faults = merger.faults();
    add_losses(trace, faults, report);
    add_side(trace, false, sides.programs().unpaired(), programs.statistics, options, report);
    add_side(trace, true, sides.kernel().unpaired(), kernel.statistics(), options, report);
    if (programs.thinning) {
        programs.thinning->set_complete(trace.names(), *programs.complete, report);
        programs.thinning->finish(trace, correction, report);
    }
    kernel.finish(trace, correction, report);
    tell_doubtful(kernel.doubtful(), report);
    if (options.plan) {
        report.records = records_in_range;
        tell_range(*options.plan, trace, report);
    }
    tell_all(trace, correction, faults, merger.has_plan(), report);
    return kernel.has_nested();
}

// Whether slices or marks of programs or of the kernel lie inside others.
bool read_without_epochs(TraceFile &trace, const Correction &correction,
                         const AnalyseOptions &options, bool is_stepping, StatsReport &report)
{
    const auto all = options.plan ? nullptr
                                  : read_by_cpu(trace, correction,
                                                {options.threads, is_stepping, options.progress},
                                                report.is_interrupted);
    if (all) {
        add_losses(trace, all->faults, report);
        add_side(trace, false, all->unpaired, all->statistics, options, report);
        tell_all(trace, correction, all->faults, false, report);
        return all->has_nested;
    }
    StatsCollector statistics(correction, trace.counter_names().size(), is_stepping);
    NestingSeen seen(statistics);
    const Programs<NestingSeen> programs{seen, statistics, nullptr, nullptr};
    const bool has_kernel_nested = read_all(trace, correction, options, programs, report);
    return has_kernel_nested || seen.has_nested();
}
} // namespace

// hardware_concurrency() also counts CPUs that the thread may not use.
unsigned usable_cpus()
{
    cpu_set_t cpus;
    if (sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        return unsigned(CPU_COUNT(&cpus));
    return std::thread::hardware_concurrency(); // more than fit into the set
}

StatsReport analyse_trace(const std::string &path, const AnalyseOptions &options)
{
    TraceFile trace(path);
    return analyse_trace(trace, options);
}

StatsReport analyse_trace(TraceFile &trace, const AnalyseOptions &options)
{
    StatsReport report;
    const Correction correction(trace, options.calibration);
    describe(trace, correction, report);
    const bool is_stepping = trace.info("counters.source") == "step";
    // Epochs also show which slices are not whole, so they are read even if they are not to be
    // used.
    const bool has_epochs = std::ranges::any_of(
        trace.epochs(), [](const Epoch &epoch) { return !belongs_to_kernel(epoch); });
    if (options.explains || has_epochs) {
        Thinning thinning(trace, report.clock, correction, false,
                          options.use_thinning && !options.plan);
        // Two share the memory of one.
        StatsCollector all(correction, 0, false, Batches::kFewSlices),
            complete(correction, trace.counter_names().size(), is_stepping, Batches::kFewSlices);
        for (StatsCollector *const half : {&all, &complete})
            half->set_max_held_bytes(kMaxHeldBytes / 2);
        OrdinarySlices ordinary(trace.names(), thinning.slices(), report.clock, all, complete,
                                is_stepping);
        const Programs<OrdinarySlices> programs{ordinary, all, &thinning, &complete};
        read_all(trace, correction, options, programs, report);
        tell_doubtful(ordinary.doubtful(), report);
    } else {
        const bool has_nested =
            read_without_epochs(trace, correction, options, is_stepping, report);
        if (trace.epochs().empty() && trace.metadata().missing(NSLICE_CHUNK_EPOCHS) == 0 &&
            !trace.info("session.epoch_chunks").empty())
            report.warnings.push_back(nothing_off(has_nested));
    }
    return report;
}
} // namespace nsdump
