// SPDX-License-Identifier: MIT
// analyse: missing or damaged parts of a trace -> the figures that depend on them.
#include "analyse/incomplete.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "common/command/counted.hpp"

namespace nsdump
{
namespace
{
using command::counted;

enum Sides : unsigned { kNeither = 0, kPrograms = 1, kKernel = 2, kBoth = 3 };

class Finder
{
public:
    explicit Finder(const TraceFile &trace) : trace_(trace) {}

    template <class... Args>
    void find(Sides sides, fmt::format_string<Args...> format, Args &&...args)
    {
        found_.reasons.push_back(fmt::format(format, std::forward<Args>(args)...));
        found_.programs = found_.programs || (sides & kPrograms) != 0;
        found_.kernel = found_.kernel || (sides & kKernel) != 0;
    }
    void look_at_metadata();
    void look_at_calibration();
    void look_at_sites();
    void look_at_records(const Losses &losses, const StreamFaults &faults);
    void look_at_chunks(const StreamFaults &faults);
    Incomplete take() { return std::move(found_); }

private:
    const TraceFile &trace_;
    Incomplete found_;
};

// The kernel's metadata affects both sides, because its interrupts and probe costs are subtracted
// from programs' slices.
Sides sides_of(unsigned kind)
{
    switch (kind) {
    case NSLICE_CHUNK_SITES:
    case NSLICE_CHUNK_CALIBRATION: return kPrograms;
    case NSLICE_CHUNK_EPOCHS: return kNeither; // estimates by thinning are withheld
    default: return kBoth;
    }
}

const char *consequence(unsigned kind)
{
    switch (kind) {
    case NSLICE_CHUNK_SITES:
    case NSLICE_CHUNK_KERNEL_SITES: return "slices may be missing or paired wrongly";
    case NSLICE_CHUNK_CALIBRATION:
    case NSLICE_CHUNK_KERNEL_CALIBRATION:
        return "the subtracted probe costs and the intervals may be wrong";
    case NSLICE_CHUNK_EPOCHS: return "nothing is estimated by random thinning";
    case NSLICE_CHUNK_KERNEL_TOTALS: return "the losses of the kernel's rings are unknown";
    default: return "the names of counters, clock and machine may be wrong";
    }
}

void Finder::look_at_metadata()
{
    for (unsigned kind = 0; kind < NSLICE_CHUNK_KINDS; ++kind) {
        if (!is_metadata_kind(kind) || kind == NSLICE_CHUNK_FOOTER)
            continue;
        if (const uint64_t missing = trace_.metadata().missing(kind); missing > 0)
            find(sides_of(kind), "{} of {} missing or damaged: {}", counted(missing, "chunk"),
                 metadata_title(kind), consequence(kind));
        if (const uint64_t repeated = trace_.metadata().repeated(kind); repeated > 0)
            find(sides_of(kind), "{} of {} repeated or out of order", counted(repeated, "chunk"),
                 metadata_title(kind));
    }
    if (trace_.metadata_faults() > 0)
        find(kBoth, "{} malformed in spite of a correct checksum",
             counted(trace_.metadata_faults(), "metadata chunk is", "metadata chunks are"));
    if (trace_.damage().chunks() > 0 && !(trace_.footer() && trace_.footer()->tells_chunks))
        find(kBoth, "the contents of the damaged places are unknown");
}

void Finder::look_at_calibration()
{
    if (trace_.lacks_start_calibration())
        find(kPrograms, "the calibration of the session's start is missing");
    const auto &all = trace_.calibrations();
    const bool has_end = std::any_of(all.begin(), all.end(), [](const Calibration &one) {
        return one.phase == NSLICE_CALIBRATION_END;
    });
    if (trace_.footer() && trace_.footer()->end_calibration_offset > 0 && !has_end)
        find(kPrograms,
             "the calibration of the session's end, which the footer refers to, is missing");
}

void Finder::look_at_sites()
{
    for (const bool is_kernel : {false, true})
        if (const uint64_t ids = trace_.names().unknown_ids(is_kernel); ids > 0)
            find(is_kernel ? kBoth : kPrograms,
                 "{} of {} records not in the site table: slices may be missing or paired wrongly",
                 counted(ids, "slice id"), is_kernel ? "the kernel's" : "programs'");
}

void Finder::look_at_records(const Losses &losses, const StreamFaults &faults)
{
    if (!losses.has_footer)
        find(kBoth, "no footer: the records after the last whole chunk are unknown");
    else if (faults.decoded != losses.drained)
        find(kBoth, "{} can be read, but {} written", counted(faults.decoded, "record"),
             counted(losses.drained, "was", "were"));
    if (const uint64_t missing = trace_.missing_chunks(); missing > 0)
        find(kBoth, "{} missing", counted(missing, "chunk of records is", "chunks of records are"));
    if (losses.kernel_totals_missing)
        find(kBoth,
             "the kernel's totals are missing: the number of records from its rings is unknown");
    uint64_t misplaced = 0;
    for (const CpuChunks &cpu : trace_.cpus())
        misplaced += cpu.misplaced_chunks;
    if (misplaced > 0)
        find(kBoth, "{} of records repeated or out of sequence", counted(misplaced, "chunk"));
}

void Finder::look_at_chunks(const StreamFaults &faults)
{
    if (const uint64_t chunks =
            std::max({faults.malformed_chunks, faults.wrong_counts, faults.wrong_starts});
        chunks > 0)
        find(kBoth, "{}",
             counted(chunks, "chunk of records does not match its header",
                     "chunks of records do not match their headers"));
}
} // namespace

Incomplete incomplete_so_far(const TraceFile &trace, const StreamFaults &faults)
{
    Finder finder(trace);
    finder.look_at_metadata();
    finder.look_at_calibration();
    finder.look_at_sites();
    finder.look_at_chunks(faults);
    return finder.take();
}

Incomplete incomplete_of(TraceFile &trace, const Losses &losses, const StreamFaults &faults)
{
    Finder finder(trace);
    finder.look_at_metadata();
    finder.look_at_calibration();
    finder.look_at_sites();
    finder.look_at_records(losses, faults);
    finder.look_at_chunks(faults);
    return finder.take();
}
} // namespace nsdump
