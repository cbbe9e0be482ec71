// SPDX-License-Identifier: MIT
// cli: a unit, a name and a range of time -> the parts of the trace that have to be read for them.
#include "cli/read/seek.hpp"

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "analyse/unit_filter.hpp"
#include "cli/read/index_file.hpp"
#include "common/command/signals.h"
#include "decode/merge.hpp"

namespace nsdump
{
namespace
{
// With more than one chunk in so many, reading all of them once is faster than some of them twice.
constexpr uint64_t kLeastChunksPerFound = 4;
// Most units are shorter than this; one that is not is looked for again, in longer windows.
constexpr double kFirstLookNs = 1e6;
constexpr uint64_t kLongerFactor = 1 << 8;

struct Found {
    uint64_t ticks;
    uint64_t stack;
    uint8_t kind;
};

// Calls each(event, is_kernel) for the events of the chunks that are wanted.  False if the user
// interrupted it.
template <class Wanted, class Each>
bool for_events_of_chunks(TraceFile &trace, const UnitIndex &index, Wanted wanted, Each each)
{
    ChunkWalker walker(trace.source(), trace.format(), 0, nullptr);
    for (size_t place = 0; place < trace.cpus().size(); ++place) {
        const CpuChunks &cpu = trace.cpus()[place];
        Offsets::Reader offsets(cpu.offsets);
        uint64_t offset = 0;
        for (const ChunkSummary &summary : index.chunks_of(place)) {
            if (!offsets.next(offset) || command_was_interrupted())
                return false;
            if (wanted(summary))
                for_each_event(trace, walker, offset, cpu.cpu,
                               [&](const Event &event) { each(event, cpu.is_kernel); });
        }
    }
    return true;
}

// One look for the ends of units that begin at `starts`, each at most `length_ticks` further on.
class UnitEnds
{
public:
    UnitEnds(uint64_t number, uint64_t length_ticks) : filter_(number), length_ticks_(length_ticks)
    {
    }

    // False if a unit is longer.
    bool look(TraceFile &trace, const std::vector<uint64_t> &starts)
    {
        std::vector<TickRange> windows;
        for (const uint64_t start : starts)
            windows.push_back({start, start + std::min(length_ticks_, ~start)});
        Merger merger(trace, Order::kTime, ReadPlan({}, 0, std::move(windows)));
        for (Run run; merger.next(run) && !command_was_interrupted();)
            for (const Event &event : run.events)
                if (!note(trace, event, run.is_kernel))
                    return false;
        const bool is_over = starts.empty() || length_ticks_ >= ~starts.front();
        if (filter_.is_inside() && is_over) // its EXIT is not in the trace
            spans_.push_back({begin_ticks_, ~uint64_t{0}});
        return is_over || !filter_.is_inside();
    }
    std::vector<TickRange> take() { return std::move(spans_); }

private:
    bool note(TraceFile &trace, const Event &event, bool is_kernel)
    {
        const bool was_inside = filter_.is_inside();
        if (was_inside && event.ticks - begin_ticks_ > length_ticks_)
            return false;
        const NameId name = trace.names().of_slice(event.slice_id);
        filter_.contains(event, name, is_kernels_own(is_kernel, trace.names()[name]));
        if (!was_inside && filter_.is_inside())
            begin_ticks_ = event.ticks;
        else if (was_inside && !filter_.is_inside())
            spans_.push_back({begin_ticks_, event.ticks});
        return true;
    }

    UnitFilter filter_;
    uint64_t length_ticks_;
    uint64_t begin_ticks_ = 0;
    std::vector<TickRange> spans_;
};

// The bits of a name's ids in ChunkSummary::names.
uint64_t bits_of(const TraceFile &trace, const std::string &name)
{
    uint64_t bits = 0;
    for (uint32_t id = 0; id <= std::numeric_limits<uint16_t>::max(); ++id)
        if (const NameId known = trace.names().known(uint16_t(id));
            known != NameTable::kNone && trace.names()[known].text == name)
            bits |= ChunkSummary::bit_of(uint16_t(id));
    return bits;
}

// Whether so few chunks may have these ids that it is worth looking for them first.
bool are_rare(const TraceFile &trace, const UnitIndex &index, uint64_t bits)
{
    uint64_t chunks = 0, wanted = 0;
    for (size_t place = 0; place < trace.cpus().size(); ++place) {
        const auto all = index.chunks_of(place);
        chunks += all.size();
        wanted += uint64_t(std::ranges::count_if(
            all, [&](const ChunkSummary &summary) { return summary.may_have(bits); }));
    }
    return wanted * kLeastChunksPerFound <= chunks;
}

// From each START to its STOP; other events are a span of their own.  A START whose STOP was lost
// stays open below those that follow, as in the pairer.
std::vector<TickRange> spans_of(std::vector<Found> &found)
{
    std::ranges::stable_sort(found, {}, &Found::ticks);
    std::unordered_map<uint64_t, std::vector<uint64_t>> open_by_stack; // begin_ticks
    std::vector<TickRange> spans;
    for (const Found &one : found) {
        std::vector<uint64_t> &open = open_by_stack[one.stack];
        spans.push_back({one.ticks, one.ticks});
        if (one.kind == NSLICE_KIND_START) {
            open.push_back(one.ticks);
        } else if (one.kind == NSLICE_KIND_STOP && !open.empty()) {
            spans.back().from_ticks = open.back();
            open.pop_back();
        }
    }
    return spans;
}
} // namespace

std::optional<std::vector<TickRange>> spans_of_unit(TraceFile &trace, const UnitIndex &index,
                                                    uint64_t number, size_t max_found)
{
    std::vector<uint64_t> starts;
    for_events_of_chunks(
        trace, index, [&](const ChunkSummary &summary) { return summary.may_begin(number); },
        [&](const Event &event, bool) {
            if (event.kind == NSLICE_KIND_INIT && event.word_count >= NSLICE_INIT_WORDS &&
                event.words[0] == number && starts.size() <= max_found)
                starts.push_back(event.ticks);
        });
    if (starts.size() > max_found)
        return std::nullopt;
    std::ranges::sort(starts);
    for (uint64_t length_ticks = ticks_of(kFirstLookNs, trace) + 1;;) {
        UnitEnds ends(number, length_ticks);
        if (starts.empty() || command_was_interrupted() || ends.look(trace, starts))
            return ends.take();
        length_ticks = length_ticks > ~uint64_t{0} / kLongerFactor ? ~uint64_t{0}
                                                                   : length_ticks * kLongerFactor;
    }
}

std::optional<std::vector<TickRange>> spans_of_name(TraceFile &trace, const UnitIndex &index,
                                                    const std::string &name, size_t max_found)
{
    const uint64_t bits = bits_of(trace, name);
    if (bits == 0 || !are_rare(trace, index, bits))
        return std::nullopt;
    std::vector<Found> found;
    const bool is_whole = for_events_of_chunks(
        trace, index, [&](const ChunkSummary &summary) { return summary.may_have(bits); },
        [&](const Event &event, bool is_kernel) {
            const NameId id = trace.names().of_slice(event.slice_id);
            if (trace.names()[id].text == name && found.size() <= max_found)
                found.push_back({event.ticks,
                                 stack_of(event, is_kernels_own(is_kernel, trace.names()[id])),
                                 event.kind});
        });
    if (!is_whole || found.size() > max_found)
        return std::nullopt;
    return spans_of(found);
}

std::optional<ReadPlan> plan_of(const Selection &selection, TraceFile &trace, bool is_quiet)
{
    const bool has_site = !selection.slice.empty() && selection.slice[0] != '#';
    if (!selection.unit && !has_site)
        return plan_of(selection.range, trace);
    const TickRange selected = ticks_of(selection.range, trace);
    const auto index = index_of(trace, is_quiet);
    if (!index)
        return ReadPlan(selected, 0, {}); // interrupted
    if (auto spans = selection.unit ? spans_of_unit(trace, *index, *selection.unit)
                                    : spans_of_name(trace, *index, selection.slice))
        return ReadPlan(selected, ticks_of(kLeadInNs, trace), *std::move(spans));
    return plan_of(selection.range, trace);
}
} // namespace nsdump
