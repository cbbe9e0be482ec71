// SPDX-License-Identifier: MIT
// nsdump check: trace -> is every chunk intact, and every issued record drained or counted as lost?
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "analyse/incomplete.hpp"
#include "analyse/losses.hpp"
#include "analyse/pauses.hpp"
#include "cli/commands.hpp"
#include "cli/read/finish.hpp"
#include "cli/read/time_range.hpp"
#include "common/command/arguments.hpp"
#include "common/command/counted.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "decode/cpu_stream.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
using command::counted;

struct Options {
    std::string trace;
    std::string output;
    bool quiet = false;
    TimeRange range;
};

// As it was given, for people.
std::string words_of(const TimeRange &range)
{
    if (range.to.empty())
        return fmt::format("from {} on", range.from);
    return range.from.empty() ? fmt::format("up to {}", range.to)
                              : fmt::format("from {} to {}", range.from, range.to);
}

class Check
{
public:
    Check(TraceFile &trace, const Options &options)
        : trace_(trace), options_(options), output_(options.output, {options.trace})
    {
        if (options.range.is_given()) // whole chunks are decoded, so slices need no lead-in
            plan_.emplace(ticks_of(options.range, trace), 0);
    }
    int run();

private:
    template <class... Args> void say(fmt::format_string<Args...> format, Args &&...args)
    {
        fmt::format_to(std::back_inserter(output_.text()), format, std::forward<Args>(args)...);
        output_.text() += '\n';
    }
    template <class... Args> void find(fmt::format_string<Args...> format, Args &&...args)
    {
        ++findings_;
        output_.text() += "FINDING  ";
        say(format, std::forward<Args>(args)...);
    }
    bool read_stream(const CpuChunks &chunks);
    void say_read(const CpuChunks &chunks, const StreamFaults &faults);
    void say_result();
    void check_order(const CpuChunks &chunks, const StreamFaults &faults);
    void check_equation();
    void check_file();

    TraceFile &trace_;
    const Options &options_;
    command::Output output_;
    std::optional<ReadPlan> plan_; // none: all records are read
    uint64_t findings_ = 0;
    uint64_t decoded_ = 0;
    uint64_t chunks_ = 0, chunks_read_ = 0;
    uint64_t unknown_ = 0; // records without a site
};

// False if the user interrupted it.
bool Check::read_stream(const CpuChunks &chunks)
{
    CpuStream stream(trace_, chunks, plan_ ? &*plan_ : nullptr);
    for (auto block = stream.next_block(); !block.empty(); block = stream.next_block()) {
        if (command_was_interrupted())
            return false;
        for (const Event &event : block)
            if (trace_.names().is_unknown(event.slice_id)) {
                trace_.names().of_slice(event.slice_id);
                ++unknown_;
            }
    }
    const StreamFaults &faults = stream.faults();
    decoded_ += faults.decoded;
    chunks_ += chunks.chunks;
    chunks_read_ += faults.chunks;
    say_read(chunks, faults);
    check_order(chunks, faults);
    return true;
}

void Check::say_read(const CpuChunks &chunks, const StreamFaults &faults)
{
    if (plan_)
        say("{}: {} of {} read, {} decoded, {} declared by their headers", chunks.title(),
            faults.chunks, counted(chunks.chunks, "chunk"), counted(faults.decoded, "record"),
            faults.declared);
    else
        say("{}: {}, {} decoded, {} declared by chunk headers", chunks.title(),
            counted(chunks.chunks, "chunk"), counted(faults.decoded, "record"), faults.declared);
}

void Check::check_order(const CpuChunks &chunks, const StreamFaults &faults)
{
    if (chunks.missing_chunks > 0)
        find("{}: {} missing (gaps in the sequence)", chunks.title(),
             counted(chunks.missing_chunks, "chunk is", "chunks are"));
    if (chunks.misplaced_chunks > 0)
        find("{}: {} repeated or out of sequence", chunks.title(),
             counted(chunks.misplaced_chunks, "chunk"));
    if (faults.wrong_counts > 0)
        find("{}: {} not hold as many records as the header declares", chunks.title(),
             counted(faults.wrong_counts, "chunk does", "chunks do"));
    if (faults.wrong_starts > 0)
        find("{}: {} not begin at the time that the header declares", chunks.title(),
             counted(faults.wrong_starts, "chunk does", "chunks do"));
    if (plan_ && chunks.early_chunks > 0)
        find("{}: {} before the one in front of it: more chunks may have records of the range",
             chunks.title(), counted(chunks.early_chunks, "chunk begins", "chunks begin"));
    if (faults.malformed_chunks > 0)
        find("{}: {} in a malformed record", chunks.title(),
             counted(faults.malformed_chunks, "chunk ends", "chunks end"));
    if (faults.ticks_back > 0)
        find("{}: the clock goes backwards in {}", chunks.title(),
             counted(faults.ticks_back, "chunk"));
    if (faults.unknown_kind > 0)
        say("{}: {} of a kind unknown to this nsdump", chunks.title(),
            counted(faults.unknown_kind, "record"));
}

void Check::check_equation()
{
    const Losses losses =
        losses_of(trace_, trace_.damage().chunks() > 0 || trace_.missing_chunks() > 0);
    if (!losses.has_footer) {
        find("{}", kNoFooter);
        say("{}", losses.equation());
        return;
    }
    for (const CpuLosses &cpu : losses.by_cpu) {
        std::string causes;
        for (size_t cause = 0; cause < kLostCauses; ++cause)
            causes +=
                fmt::format("{}{} {}", cause > 0 ? ", " : "", lost_name(cause), cpu.lost[cause]);
        say("{}: issued {} = drained {} + lost {} ({})", cpu.title(), cpu.issued, cpu.drained,
            cpu.lost_sum(), causes);
        if (!cpu.equation_holds)
            find("{}: the loss equation does not hold", cpu.title());
        if (!cpu.chunks_agree)
            find("{}: {} declares {} drained, but the chunks hold {}", cpu.title(),
                 cpu.is_kernel ? "the kernel's totals" : "footer", counted(cpu.drained, "record"),
                 cpu.in_chunks);
    }
    for (const CpuChunks &chunks : trace_.cpus()) {
        bool has_row = false;
        for (const CpuLosses &cpu : losses.by_cpu)
            has_row = has_row || (cpu.cpu == chunks.cpu && cpu.is_kernel == chunks.is_kernel);
        if (!has_row && !(chunks.is_kernel && losses.kernel_totals_missing))
            find("{}: has chunks but no row in the {}", chunks.title(),
                 chunks.is_kernel ? "kernel's totals" : "footer");
    }
    if (losses.kernel_totals_missing)
        find("the kernel's totals are missing: the losses of its rings are unknown");
    if (losses.unnamed_kernel_sites > 0)
        say("{} in the kernel recorded nothing: no slice number was left",
            counted(losses.unnamed_kernel_sites, "probe"));
    if (losses.dropped_sites > 0)
        say("{} did not fit the site table", counted(losses.dropped_sites, "site"));
    if (const std::string words = pauses_of(trace_).words(); !words.empty())
        say("{}", words);
}

void Check::check_file()
{
    const DamageLog &damage = trace_.damage();
    for (const Damage &one : damage.places())
        find("at byte {}: {}, {} skipped", one.offset, one.what, counted(one.bytes, "byte"));
    if (damage.chunks() > damage.places().size())
        find("{}", counted(damage.chunks() - damage.places().size(), "more damaged place"));
    for (const std::string &reason : incomplete_so_far(trace_).reasons)
        find("{}", reason);
    if (unknown_ > 0)
        find("{}", counted(unknown_, "record belongs to a slice without a site",
                           "records belong to slices without a site"));
    if (trace_.chunks_after_footer() > 0)
        find("{} the footer",
             counted(trace_.chunks_after_footer(), "chunk follows", "chunks follow"));
    if (trace_.unknown_chunks() > 0)
        say("{} of a kind unknown to this nsdump", counted(trace_.unknown_chunks(), "chunk"));
}

void Check::say_result()
{
    const std::string name = printable(trace_.source().name());
    const std::string records = counted(decoded_, "record");
    if (findings_ > 0)
        say("{}: {}; {} can be read", name, counted(findings_, "finding"), records);
    else if (!plan_)
        say("{}: whole; {}, every one accounted for", name, records);
    else
        say("{}: nothing found; {} in {} of {}", name, records, chunks_read_,
            counted(chunks_, "chunk"));
    if (plan_)
        say("{}: records were read only from chunks that may have some {}; headers, metadata and "
            "losses are of the whole trace",
            name, words_of(options_.range));
}

int Check::run()
{
    const bool quiet = options_.quiet;
    for (const CpuChunks &chunks : trace_.cpus())
        if (!read_stream(chunks)) {
            say("interrupted while reading {}", chunks.title());
            if (!quiet)
                end_output(output_);
            return kExitInterrupted;
        }
    check_equation();
    check_file();
    say_result();
    if (!quiet)
        output_.finish();
    return findings_ > 0 ? kExitFindings : kExitOk;
}

constexpr const char *kExamples = R"(
  nsdump check trace.nsl                     every finding, and a line for each CPU
  nsdump check -q trace.nsl && echo whole    only the exit code
  nsdump check trace.nsl --from 1s --to 2s   the records of one second, and the structure of all
)";

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<Options>();
    add_trace(arguments, options->trace);
    add_time_range(arguments, options->range, "check records only in chunks that may have some");
    const command::Argument output = add_output(arguments, options->output);
    arguments.add_flag("-q,--quiet", options->quiet, "print no findings; only set the exit code");
    arguments.footer(help_footer(kExamples));
    arguments.at_end([options, output] {
        if (options->quiet)
            command::refuse({output}, "cannot be combined with --quiet");
    });
    return [options] {
        check_trace_name(options->trace);
        TraceFile trace(options->trace);
        return Check(trace, *options).run();
    };
}
} // namespace

const Command kCheck = {
    "check", "Verify the integrity of every chunk and the loss equation of every CPU", add};
} // namespace nsdump
