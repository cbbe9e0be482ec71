// SPDX-License-Identifier: MIT
// case: cost of each macro, for each clock mode, ring kind and counter source; measured by
// libnsprobe.
#include <array>
#include <cerrno>
#include <sstream>

#include <fmt/format.h>
#include <nsprobe/calibrate.h>

#include "cases.hpp"
#include "common/command/output.hpp"

namespace calibrate
{
namespace
{
struct Mode {
    const char *name;
    nsp_clock_mode value;
};
constexpr uint32_t kShortBatches = 4; // libnsprobe's batches have only 64 and 128 rounds
constexpr Mode kModes[] = {{"fast", NSP_CLOCK_FAST}, {"ordered", NSP_CLOCK_ORDERED}};

struct RingKind {
    const char *name;
    nslice_ring_kind value;
};
constexpr RingKind kRingKinds[] = {{"rseq", NSLICE_RING_RSEQ}, {"atomic", NSLICE_RING_ATOMIC}};

struct Source {
    const char *name;
    nsp_counter_source value;
};
constexpr Source kSources[] = {{"rdpmc", NSP_SOURCE_RDPMC},
                               {"perf-read", NSP_SOURCE_PERF_READ},
                               {"papi", NSP_SOURCE_PAPI},
                               {"step", NSP_SOURCE_STEP}};

const char *macro_of(unsigned kind)
{
    switch (kind) {
    case NSLICE_KIND_START: return "START+STOP";
    case NSLICE_KIND_MARK: return "MARK";
    case NSLICE_KIND_INIT: return "INIT";
    case NSLICE_KIND_EXIT: return "EXIT";
    }
    return nullptr;
}

CounterCost &counter_cost(ProbeRow &row, const std::string &name)
{
    for (CounterCost &cost : row.counter_costs)
        if (cost.name == name)
            return cost;
    row.counter_costs.push_back({name, {}, {}});
    return row.counter_costs.back();
}

void add_entry(const nslice_calibration_entry &entry, bool has_inner,
               const std::vector<std::string> &names, ProbeRow &row)
{
    const Estimate inner{entry.inner, entry.inner_ci95, 0, entry.samples, entry.trimmed};
    const Estimate outer{entry.outer, entry.outer_ci95, 0, entry.samples, entry.trimmed};
    const bool is_alone = entry.kind & NSLICE_ENTRY_ALONE,
               is_overtaking = entry.kind & NSLICE_ENTRY_OVERTAKING;
    Series *to_inner = is_alone        ? &row.inner_alone
                       : is_overtaking ? &row.inner_overtaking
                                       : &row.inner,
           *to_outer = is_alone        ? &row.outer_alone
                       : is_overtaking ? &row.outer_overtaking
                                       : &row.outer;
    if (entry.field > 0) {
        CounterCost &cost = counter_cost(row, names[entry.field - 1]);
        to_inner = &cost.inner;
        to_outer = &cost.outer;
    }
    if (has_inner)
        to_inner->add(inner);
    to_outer->add(outer);
}

void take(const nsp_calibration &measured, const Setting &setting,
          const std::vector<std::string> &names, Results &results)
{
    for (uint32_t i = 0; i < measured.count; ++i) {
        const nslice_calibration_entry &entry = measured.entries[i];
        const unsigned kind = entry.kind & ~(NSLICE_ENTRY_ALONE | NSLICE_ENTRY_OVERTAKING);
        const char *macro = macro_of(kind);
        if (macro && entry.field <= names.size())
            add_entry(entry, kind == NSLICE_KIND_START, names, results.probe(macro, setting));
    }
    for (uint32_t i = 0; i < measured.half_count; ++i) {
        const nslice_calibration_entry &entry = measured.halves[i];
        const char *macro =
            (entry.kind & ~NSLICE_ENTRY_ALONE) == NSLICE_KIND_START ? "START" : "STOP";
        if (entry.field <= names.size())
            add_entry(entry, false, names, results.half(macro, setting));
    }
}

// Returns false if this ring kind or source is unavailable; the reason is added to the results.
bool measure(const Mode &mode, const RingKind &kind, const Source &source, const Pass &pass,
             Results &results)
{
    const bool has_counters = source.value != NSP_SOURCE_NONE;
    const nsp_calibration_request request = {mode.value,
                                             kind.value,
                                             has_counters ? pass.counters.c_str() : nullptr,
                                             source.value,
                                             kShortBatches * pass.batches,
                                             pass.does_paper};
    static nsp_calibration measured; // 20 KiB
    const int err = nsp_calibrate(&request, &measured);
    if (err == -EBUSY)
        throw CannotMeasure(nsp_last_error());
    if (err == -EINVAL && has_counters)
        throw command::UsageError(fmt::format("--counters: {}", nsp_last_error()));
    if (err) {
        results.lacks(has_counters ? fmt::format("counters from {}", source.name)
                                   : fmt::format("ring kind {}", kind.name),
                      nsp_last_error());
        return false;
    }
    std::vector<std::string> names;
    std::istringstream words(has_counters ? pass.counters : "");
    for (std::string name; std::getline(words, name, ',');)
        names.push_back(name);
    take(measured, {mode.name, kind.name, source.name}, names, results);
    return true;
}
} // namespace

void run_probe_case(const Pass &pass, Results &results)
{
    for (const RingKind &kind : kRingKinds)
        for (const Mode &mode : kModes)
            if (!measure(mode, kind, {"none", NSP_SOURCE_NONE}, pass, results))
                break;
    if (results.probes.empty())
        throw CannotMeasure("no ring kind is available: " + results.unavailable.back().reason);
}

void run_counter_case(const Pass &pass, Results &results)
{
    const size_t rows_without = results.probes.size();
    for (const Source &source : kSources) {
        if (source.value == NSP_SOURCE_STEP && !pass.does_stepping)
            continue;
        for (const RingKind &kind : kRingKinds)
            for (const Mode &mode : kModes) {
                const auto lacks_ring = fmt::format("ring kind {}", kind.name);
                bool can_have = true;
                for (const Unavailable &lack : results.unavailable)
                    can_have = can_have && lack.what != lacks_ring &&
                               lack.what != fmt::format("counters from {}", source.name);
                if (can_have)
                    measure(mode, kind, source, pass, results);
            }
    }
    if (pass.must_have_counters && pass.number == 0 && results.probes.size() == rows_without)
        throw CannotMeasure(fmt::format("--counters: \"{}\": no source available: {} (`nsdump "
                                        "counters` lists those that have one)",
                                        pass.counters, results.why_no_counters()));
}
} // namespace calibrate
