// SPDX-License-Identifier: MIT
// verify: counts of known slices -> passed, or what is wrong with them.
#include "cli/verify/judge.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "common/command/counted.hpp"

namespace nsdump::verify
{
namespace
{
using command::counted;

constexpr double kTolerance = 0.5; // counts are integers; constants are means of them
} // namespace

const char *verdict_name(Verdict verdict)
{
    return verdict == Verdict::kPassed   ? "passed"
           : verdict == Verdict::kFailed ? "failed"
                                         : "unavailable";
}

void Comparison::add(const std::string &name, uint32_t depth, double net)
{
    const auto known = truth_.find(name);
    if (known == truth_.end())
        return;
    if (std::isnan(net)) {
        add_uncounted(name);
        return;
    }
    const double excess = net - known->second;
    const bool is_below = excess <= -kTolerance, is_above = excess >= kTolerance;
    ++seen_[name];
    ++slices_;
    below_ += is_below;
    above_ += is_above;
    exact_ += !is_below && !is_above;
    if (is_above && depth == 0)
        outermost_excess_ += excess;
    if (is_below ? !is_wrong_below_ : is_above && wrong_.empty()) {
        wrong_ = name;
        wrong_net_ = net;
        is_wrong_below_ = is_below;
    }
}

void Comparison::add_uncounted(const std::string &name)
{
    uncounted_ += truth_.contains(name);
}

Outcome Comparison::failed(const std::string &what) const
{
    return {Verdict::kFailed, what};
}

Outcome Comparison::failed_count(const std::string &what) const
{
    Outcome outcome = failed(what);
    outcome.expected = truth_.at(wrong_);
    outcome.measured = wrong_net_;
    outcome.text += fmt::format("; slice {}: expected {:.0f}, measured {:.2f}", wrong_,
                                *outcome.expected, wrong_net_);
    return outcome;
}

Outcome Comparison::judge(bool overcounts, const Disturbances &disturbances) const
{
    if (lost_records_ > 0)
        return failed(counted(lost_records_, "record was lost", "records were lost"));
    if (uncounted_ > 0)
        return failed(fmt::format("{} no count: the counter lost its register",
                                  counted(uncounted_, "slice has", "slices have")));
    if (!is_complete())
        return failed(fmt::format("only {} of {} known slices are in the trace", seen_.size(),
                                  truth_.size()));
    const std::string of = fmt::format(" of {}", counted(slices_, "slice"));
    if (below_ > 0)
        return failed_count(fmt::format("{}{} too low", below_, of));
    if (above_ > 0 && !overcounts)
        return failed_count(fmt::format("{}{} too high", above_, of));
    if (above_ > exact_)
        return failed_count(fmt::format("{}{} too high: more than interrupts explain", above_, of));
    if (outermost_excess_ > double(disturbances.interrupts) + kTolerance)
        return failed_count(fmt::format("{}{} too high, by {:.0f} together, with {} meanwhile",
                                        above_, of, outermost_excess_,
                                        counted(disturbances.interrupts, "interrupt")));
    double longest = 0;
    for (const auto &[name, instructions] : truth_)
        longest = std::max(longest, instructions);
    std::string text = fmt::format("{} of up to {:.0f} instructions, {} exact",
                                   counted(slices_, "slice"), longest, exact_);
    if (above_ > 0)
        text += fmt::format(", {} too high by one for each interrupt", above_);
    return {Verdict::kPassed, text};
}
} // namespace nsdump::verify
