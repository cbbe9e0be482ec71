// SPDX-License-Identifier: MIT
// compare: the reports of the runs of one program -> its slices by name, and their figures.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyse/compare/estimate.hpp"
#include "analyse/report.hpp"

namespace nsdump
{
using Runs = std::vector<StatsReport>;

// The figure of a slice in every run, or the reason why a run lacks it.
struct Figures {
    std::vector<Figure> of_runs;
    std::string why;
};

// Refers to the runs.
class RunsOfSide
{
public:
    explicit RunsOfSide(const Runs &runs);

    const Runs &runs() const { return runs_; }
    const SliceReport *find(size_t run, const std::string &name, bool is_kernel) const;
    // `field`: "ticks" or a counter.
    Figures figures(const std::string &slice, bool is_kernel, const std::string &field) const;
    // What is wrong with one of the runs, and with which if there are several.
    std::string of_run(size_t run, const std::string &why) const;

private:
    const Runs &runs_;
    // A trace may have 65,000 slices.
    std::vector<std::map<std::pair<bool, std::string_view>, const SliceReport *>> by_run_;
};

const FieldReport *find_field(const SliceReport &slice, const std::string &field);
} // namespace nsdump
