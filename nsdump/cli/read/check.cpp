// SPDX-License-Identifier: MIT
// nsdump check: trace -> is every chunk intact, and every issued record drained or counted as lost?
#include <iterator>
#include <memory>
#include <string>

#include <fmt/format.h>

#include "analyse/incomplete.hpp"
#include "analyse/losses.hpp"
#include "cli/commands.hpp"
#include "common/command/arguments.hpp"
#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "decode/cpu_stream.hpp"
#include "export/escape.hpp"

namespace nsdump
{
namespace
{
struct Options {
    std::string trace;
    bool quiet = false;
};

class Check
{
public:
    explicit Check(TraceFile &trace) : trace_(trace), output_("") {}
    int run(bool quiet);

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
    void check_order(const CpuChunks &chunks, const StreamFaults &faults);
    void check_equation();
    void check_file();

    TraceFile &trace_;
    command::Output output_;
    std::uint64_t findings_ = 0;
    std::uint64_t decoded_ = 0;
    std::uint64_t unknown_ = 0; // records without a site
};

// False if the user interrupted it.
bool Check::read_stream(const CpuChunks &chunks)
{
    CpuStream stream(trace_, chunks);
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
    say("{}: {} chunks, {} records decoded, {} declared by chunk headers", chunks.title(),
        chunks.chunks, faults.decoded, faults.declared);
    check_order(chunks, faults);
    return true;
}

void Check::check_order(const CpuChunks &chunks, const StreamFaults &faults)
{
    if (chunks.missing_chunks > 0)
        find("{}: {} chunks are missing (gaps in the sequence)", chunks.title(),
             chunks.missing_chunks);
    if (chunks.misplaced_chunks > 0)
        find("{}: {} chunks repeated or out of sequence", chunks.title(), chunks.misplaced_chunks);
    if (faults.wrong_counts > 0)
        find("{}: {} chunks do not hold as many records as their header declares", chunks.title(),
             faults.wrong_counts);
    if (faults.malformed_chunks > 0)
        find("{}: {} chunks end in a malformed record", chunks.title(), faults.malformed_chunks);
    if (faults.ticks_back > 0)
        find("{}: the clock goes backwards in {} chunks", chunks.title(), faults.ticks_back);
    if (faults.unknown_kind > 0)
        say("{}: {} records of a kind unknown to this nsdump", chunks.title(), faults.unknown_kind);
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
        for (std::size_t cause = 0; cause < kLostCauses; ++cause)
            causes +=
                fmt::format("{}{} {}", cause > 0 ? ", " : "", lost_name(cause), cpu.lost[cause]);
        say("{}: issued {} = drained {} + lost {} ({})", cpu.title(), cpu.issued, cpu.drained,
            cpu.lost_sum(), causes);
        if (!cpu.equation_holds)
            find("{}: the loss equation does not hold", cpu.title());
        if (!cpu.chunks_agree)
            find("{}: {} declares {} records drained, but the chunks hold {}", cpu.title(),
                 cpu.is_kernel ? "the kernel's totals" : "footer", cpu.drained, cpu.in_chunks);
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
        say("{} probes of kernel modules recorded nothing: no slice number was left for them",
            losses.unnamed_kernel_sites);
    if (losses.dropped_sites > 0)
        say("{} sites did not fit the site table", losses.dropped_sites);
}

void Check::check_file()
{
    const DamageLog &damage = trace_.damage();
    for (const Damage &one : damage.places())
        find("at byte {}: {}, {} bytes skipped", one.offset, one.what, one.bytes);
    if (damage.chunks() > damage.places().size())
        find("{} more damaged places", damage.chunks() - damage.places().size());
    for (const std::string &reason : incomplete_so_far(trace_).reasons)
        find("{}", reason);
    if (unknown_ > 0)
        find("{} records belong to slices without a site", unknown_);
    if (trace_.chunks_after_footer() > 0)
        find("{} chunks follow the footer", trace_.chunks_after_footer());
    if (trace_.unknown_chunks() > 0)
        say("{} chunks of a kind unknown to this nsdump", trace_.unknown_chunks());
}

int Check::run(bool quiet)
{
    const std::string name = printable(trace_.source().name());
    for (const CpuChunks &chunks : trace_.cpus())
        if (!read_stream(chunks)) {
            say("interrupted while reading {}", chunks.title());
            output_.finish();
            return kExitInterrupted;
        }
    check_equation();
    check_file();
    if (findings_ == 0)
        say("{}: whole; {} records, every one accounted for", name, decoded_);
    else
        say("{}: {} findings; {} records can be read", name, findings_, decoded_);
    if (!quiet)
        output_.finish();
    return findings_ > 0 ? kExitFindings : kExitOk;
}

RunCommand add(command::ArgumentSet &arguments)
{
    auto options = std::make_shared<Options>();
    arguments.add("trace", options->trace, "trace file").required();
    arguments.add_flag("-q,--quiet", options->quiet, "print nothing; only set the exit code");
    return [options] {
        TraceFile trace(options->trace);
        return Check(trace).run(options->quiet);
    };
}
} // namespace

const Command kCheck = {
    "check", "Verify the integrity of every chunk and the loss equation of every CPU", add};
} // namespace nsdump
