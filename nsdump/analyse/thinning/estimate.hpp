// SPDX-License-Identifier: MIT
// analyse: cells of random thinning and calibrated constants -> net values of slices.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "analyse/correct/correction.hpp"
#include "analyse/correct/uncertainty.hpp"
#include "analyse/pair/pair.hpp"
#include "analyse/thinning/cells/merged_cell.hpp"
#include "analyse/thinning/collector.hpp"
#include "analyse/thinning/fit.hpp"
#include "analyse/thinning/result.hpp"

namespace nsdump
{
// How much the slices of each epoch moved an estimate.
using Influence = std::map<uint32_t, double>;

// What a pair costs the slices around it.
struct ContextCost {
    double value = 0;
    Uncertainty error;
    double bound = 0;
    Influence influence;
};

class ThinningEstimator
{
public:
    // Drops all cells of `slices`.  `step` of the clock.  `bpf`: {} for slices of
    // processes.  `refusal`: why there is nothing to estimate; empty if there is.
    ThinningEstimator(const NameTable &names, ThinningCollector &slices,
                      const Correction &correction, double step, const BpfCosts &bpf,
                      std::string refusal);

    // Cells, costs, and `net` or, if it is unavailable, the reason.  Empty for a name without
    // slices.
    std::optional<SliceThinning> estimate(NameId name) const;

private:
    struct Named {
        const NameCells *sums = nullptr;
        std::vector<NameId> inside; // ascending
        std::vector<MergedCell> cells;
        bool has_midmeans = false; // see may_use_midmeans()
        std::vector<size_t> fitted_cells;
        std::vector<FittedGroup> fitted; // unknowns are places in `inside`
        double session_error = 0;        // standard error that all cells have in common

        // Which epochs moved the costs of what is inside.
        const PartMean &fitted_mean(const MergedCell &one) const
        {
            return has_midmeans ? one.middle : one.trimmed;
        }
        const ClippedSums &fitted_sums(const MergedCell &one) const
        {
            return has_midmeans ? one.cell.middle() : one.cell.trimmed();
        }
    };

    // A cost that was separated from others, in slices around it.
    struct Single {
        NameId around;
        const FittedGroup *group;
    };

    void note_ever_off();
    void take_cells(NameId name, ThinningCollector &slices);
    void merge_cells(Named &named) const;
    void set_contexts();
    void set_means(MergedCell &cell) const;
    PartMean mean_of(const Cell &cell, const ClippedSums &part) const;
    static void set_session_error(Named &named);
    static std::vector<FittedGroup> fitted_means(const Named &named, PartMean MergedCell::*part);
    static void fit(Named &named);
    std::optional<ContextCost> context_cost(NameId name, const std::vector<Single> &singles) const;
    const MergedCell *bare_cell(NameId name, const Named &named, std::string &reason) const;
    void set_net(NameId name, const Named &named, const MergedCell &bare, SliceThinning &out) const;
    double context_weight(NameId name, const Measured &calibrated,
                          const Measured &in_context) const;
    void set_inner(NameId name, const std::vector<CpuSum> &cpus, double behind, SliceThinning &out,
                   Uncertainty &error, double &bound) const;
    void describe(const Named &named, SliceThinning &out) const;
    ThinnedCost cost_of(const Named &named, const std::vector<size_t> &places) const;

    const NameTable &names_;
    const ThinningCollector &slices_;
    const Correction &correction_;
    double step_;
    const BpfCosts bpf_;
    std::string refusal_;
    std::vector<Named> all_;                   // by name
    std::vector<bool> is_ever_off_;            // by name
    std::map<NameId, ContextCost> in_context_; // of names inside others
};
} // namespace nsdump
