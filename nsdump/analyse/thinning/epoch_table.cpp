// SPDX-License-Identifier: MIT
// analyse: the epochs of a trace -> which names were off at a time, in which process.
#include "analyse/thinning/epoch_table.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "common/command/counted.hpp"

namespace nsdump
{
namespace
{
// Epochs are in ticks of the trace's clock, and times of records on a line between two clocks.  The
// recorder leaves out so much of an epoch at each switch (nsbpf/src/probes/thinner.cpp).
constexpr double kMostResidualNs = 5e3;

std::string clock_refusal(const TraceFile &trace)
{
    const double residual_ns = std::strtod(trace.info("kernel.clock.residual_ns").c_str(), nullptr);
    if (residual_ns <= kMostResidualNs)
        return "";
    return fmt::format("the clock of BPF programs moved by {:.0f} ns against that of the trace, "
                       "and epochs are only known to {:.0f} ns",
                       residual_ns, kMostResidualNs);
}
} // namespace

EpochTable::EpochTable(const TraceFile &trace, bool is_kernel)
    : epochs_(trace.epochs()), is_kernel_(is_kernel), ranges_(1)
{
    const uint64_t missing = trace.metadata().missing(NSLICE_CHUNK_EPOCHS);
    const uint64_t repeated = trace.metadata().repeated(NSLICE_CHUNK_EPOCHS);
    has_missing_ = trace.lost_epoch_chunks() + missing > 0;
    if (has_missing_)
        refusal_ = command::counted(trace.lost_epoch_chunks() + missing, "chunk of epochs is",
                                    "chunks of epochs are") +
                   " missing or malformed";
    else if (repeated > 0)
        refusal_ =
            command::counted(repeated, "chunk of epochs is", "chunks of epochs are") + " repeated";
    else if (is_kernel_)
        refusal_ = clock_refusal(trace);
    sort_spans();
    find_ranges(trace);
    number_sets(trace);
}

void EpochTable::sort_spans()
{
    for (uint32_t i = 0; i < epochs_.size(); ++i)
        if (belongs_to_kernel(epochs_[i]) == is_kernel_)
            spans_.push_back({epochs_[i].begin_ticks, epochs_[i].end_ticks, 0, i});
    std::sort(spans_.begin(), spans_.end(), [&](const Span &a, const Span &b) {
        return std::tuple(epochs_[a.source].pid, a.begin_ticks, a.source) <
               std::tuple(epochs_[b.source].pid, b.begin_ticks, b.source);
    });
}

void EpochTable::find_ranges(const TraceFile &trace)
{
    std::map<uint32_t, uint32_t> places; // by process
    for (uint32_t i = 0; i < spans_.size(); ++i) {
        const uint32_t pid = epochs_[spans_[i].source].pid;
        const auto [place, is_new] = places.try_emplace(pid, uint32_t(ranges_.size()));
        if (is_new)
            ranges_.push_back({i, i});
        else if (spans_[i].begin_ticks < spans_[i - 1].end_ticks && refusal_.empty())
            refusal_ = is_kernel_ ? "epochs of BPF programs overlap"
                                  : fmt::format("epochs of process {} overlap", pid);
        ranges_[place->second].end = i + 1;
    }
    constexpr uint32_t kIds = 1 << 16;
    range_by_id_.resize(is_kernel_ ? kIds : NSLICE_KERNEL_FIRST_ID);
    for (uint32_t id = is_kernel_ ? NSLICE_KERNEL_FIRST_ID : 0; id < range_by_id_.size(); ++id)
        range_by_id_[id] = range_number(trace.names(), uint16_t(id), places);
}

// Of the kernel's sites, those in BPF programs are switched.
uint32_t EpochTable::range_number(const NameTable &names, uint16_t id,
                                  const std::map<uint32_t, uint32_t> &places) const
{
    const bool has_site =
        is_kernel_ ? names.is_in_program(id) : names.known(id) != NameTable::kNone;
    const auto found = places.find(is_kernel_ ? NSLICE_EPOCH_OF_KERNEL : names.pid_of(id));
    return has_site && found != places.end() ? found->second : 0;
}

void EpochTable::number_sets(const TraceFile &trace)
{
    std::map<std::vector<NameId>, uint32_t> numbers;
    sets_.emplace_back();
    numbers[{}] = 0;
    for (Span &span : spans_) {
        std::vector<NameId> names;
        for (const uint16_t id : epochs_[span.source].off)
            if (const NameId name = trace.names().known(id); name != NameTable::kNone)
                names.push_back(name);
        std::sort(names.begin(), names.end());
        names.erase(std::unique(names.begin(), names.end()), names.end());
        const auto found = numbers.find(names);
        if (found != numbers.end()) {
            span.set = found->second;
        } else if (sets_.size() < kMaxSets) {
            span.set = uint32_t(sets_.size());
            numbers[names] = span.set;
            sets_.push_back(std::move(names));
        } else {
            refusal_ = fmt::format("more than {} different sets of probes were off", kMaxSets);
            return;
        }
    }
}

uint32_t EpochTable::find(uint16_t slice_id, uint64_t ticks, uint32_t hint) const
{
    const Range range = range_of(slice_id);
    if (hint >= range.begin && hint < range.end && spans_[hint].holds(ticks))
        return hint;
    const auto begin = spans_.begin() + range.begin, end = spans_.begin() + range.end;
    const auto after = std::upper_bound(
        begin, end, ticks, [](uint64_t at, const Span &span) { return at < span.begin_ticks; });
    if (after == begin || !(after - 1)->holds(ticks))
        return kNone;
    return uint32_t(after - 1 - spans_.begin());
}

bool EpochTable::is_name_off(uint32_t epoch, NameId name) const
{
    const std::vector<NameId> &names = sets_[spans_[epoch].set];
    return std::binary_search(names.begin(), names.end(), name);
}

bool EpochTable::is_id_off(uint32_t epoch, uint16_t slice_id) const
{
    const std::vector<uint16_t> &off = epochs_[spans_[epoch].source].off;
    return std::binary_search(off.begin(), off.end(), slice_id);
}
} // namespace nsdump
