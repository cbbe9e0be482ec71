// SPDX-License-Identifier: MIT
// compare: the reports of the runs of one program -> its slices by name, and their figures.
#include "analyse/compare/side.hpp"

#include <algorithm>

#include "analyse/compare/comparable.hpp"

namespace nsdump
{
RunsOfSide::RunsOfSide(const Runs &runs) : runs_(runs)
{
    for (const StatsReport &run : runs) {
        auto &slices = by_run_.emplace_back();
        for (const SliceReport &slice : run.slices)
            slices.emplace(std::pair(slice.is_kernel, std::string_view(slice.name)), &slice);
    }
}

const SliceReport *RunsOfSide::find(size_t run, const std::string &name, bool is_kernel) const
{
    const auto found = by_run_[run].find({is_kernel, name});
    return found == by_run_[run].end() ? nullptr : found->second;
}

std::string RunsOfSide::of_run(size_t run, const std::string &why) const
{
    return runs_.size() > 1 ? runs_[run].path + ": " + why : why;
}

Figures RunsOfSide::figures(const std::string &slice, bool is_kernel,
                            const std::string &field) const
{
    Figures out;
    for (size_t run = 0; run < runs_.size(); ++run) {
        const SliceReport *found = find(run, slice, is_kernel);
        const FieldReport *values = found ? find_field(*found, field) : nullptr;
        if (!values)
            return {{}, "not in " + runs_[run].path};
        std::string why = why_not_usable(*found, *values, runs_[run]);
        const auto figure = why.empty() ? figure_of(*values, runs_[run]) : std::nullopt;
        if (why.empty() && !figure)
            why = "too few slices for an interval";
        if (!why.empty())
            return {{}, of_run(run, why)};
        if (!out.of_runs.empty() && out.of_runs[0].is_per_packet != figure->is_per_packet)
            return {{}, "only some runs have packets"};
        out.of_runs.push_back(*figure);
    }
    return out;
}

const FieldReport *find_field(const SliceReport &slice, const std::string &field)
{
    const auto found = std::find_if(slice.values.begin(), slice.values.end(),
                                    [&](const FieldReport &value) { return value.field == field; });
    return found == slice.values.end() ? nullptr : &*found;
}
} // namespace nsdump
