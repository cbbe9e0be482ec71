// SPDX-License-Identifier: MIT
// compare: the reports of two versions of a program, each with one run or several -> for every
// slice and field what differs, and whether that is shown.
#include "analyse/compare/compare.hpp"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <set>
#include <tuple>
#include <utility>

#include "analyse/compare/significance.hpp"

namespace nsdump
{
namespace
{
// Of the looks at the core during calibration, the share that found its other thread busy.
double busy_share(const StatsReport &report)
{
    const auto found = report.info.find("calibrate.sibling");
    const double share =
        found == report.info.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
    return share >= 0 ? std::min(share, 1.0) : 0; // a hostile trace has any text
}

void fill(Comparison &out, const RunsOfSide &first_side, const RunsOfSide &second_side,
          const CompareOptions &options)
{
    out.why =
        why_runs_differ(first_side.runs(), second_side.runs(), out.field, out.is_kernel, options);
    const Figures first = first_side.figures(out.slice, out.is_kernel, out.field);
    const Figures second = second_side.figures(out.slice, out.is_kernel, out.field);
    for (const Figures *side : {&first, &second})
        if (out.why.empty() && !side->why.empty())
            out.why = side->why;
    if (first.of_runs.empty() || second.of_runs.empty())
        return;
    out.is_per_packet = first.of_runs[0].is_per_packet;
    out.first = estimate_of(first.of_runs);
    out.second = estimate_of(second.of_runs);
    if (out.is_per_packet != second.of_runs[0].is_per_packet && out.why.empty())
        out.why = "per packet in one, per slice in the other";
    if (!out.why.empty())
        return;
    if (are_whole(first.of_runs, second.of_runs))
        out.first->within_error = out.second->within_error = 0;
    const double spread = spread_of(out.field, options, first_side.runs(), second_side.runs());
    out.difference = difference_of(*out.first, *out.second, spread);
    out.verdict = Verdict::kNoDifference;
}

void judge(std::vector<Comparison> &all)
{
    std::vector<Comparison *> uncertain;
    std::vector<double> p_values;
    for (Comparison &one : all) {
        if (one.verdict == Verdict::kNotComparable)
            continue;
        one.p_adjusted = one.difference.p_value();
        if (one.difference.is_exact)
            continue;
        uncertain.push_back(&one);
        p_values.push_back(one.p_adjusted);
    }
    const std::vector<double> adjusted = holm_adjusted(p_values);
    for (size_t i = 0; i < adjusted.size(); ++i)
        uncertain[i]->p_adjusted = adjusted[i];
    for (Comparison &one : all)
        if (one.verdict != Verdict::kNotComparable && one.p_adjusted < kChance)
            one.verdict = one.difference.value > 0 ? Verdict::kSlower : Verdict::kFaster;
}
} // namespace

const char *verdict_name(Verdict verdict)
{
    switch (verdict) {
    case Verdict::kFaster: return "faster";
    case Verdict::kSlower: return "slower";
    case Verdict::kNoDifference: return "no difference shown";
    case Verdict::kNotComparable: break;
    }
    return "not comparable";
}

double spread_of(const std::string &field, const CompareOptions &options, const Runs &first,
                 const Runs &second)
{
    std::string lower;
    for (const char letter : field)
        lower += char(std::tolower(static_cast<unsigned char>(letter)));
    if (lower.starts_with("instructions")) // do not depend on the machine's state
        return 0;
    if (options.run_spread)
        return *options.run_spread;
    double spread = kLeastSpread;
    for (const Runs *side : {&first, &second})
        for (const StatsReport &run : *side)
            spread = std::max(spread, busy_share(run));
    return spread;
}

std::string why_runs_differ(const Runs &first, const Runs &second, const std::string &field,
                            bool is_kernel, const CompareOptions &options)
{
    for (const Runs *side : {&first, &second})
        for (const StatsReport &run : *side)
            if (std::string why = why_not_comparable(first.front(), run, field, is_kernel, options);
                !why.empty())
                return first.size() + second.size() > 2 ? run.path + ": " + why : why;
    return "";
}

std::vector<Comparison> compare(const Runs &first, const Runs &second,
                                const CompareOptions &options, const std::string &slice)
{
    const RunsOfSide first_side(first), second_side(second);
    std::vector<Comparison> out;
    std::set<std::tuple<bool, std::string, std::string>> seen;
    for (const Runs *side : {&first, &second})
        for (const StatsReport &run : *side)
            for (const SliceReport &one : run.slices)
                for (const FieldReport &field : one.values) {
                    if (!slice.empty() && one.name != slice)
                        continue;
                    if (!seen.emplace(std::tuple(one.is_kernel, one.name, field.field)).second)
                        continue;
                    Comparison &added = out.emplace_back();
                    added.slice = one.name;
                    added.is_kernel = one.is_kernel;
                    added.field = field.field;
                    added.unit = field.field == "ticks" ? "ns" : field.unit;
                    fill(added, first_side, second_side, options);
                }
    judge(out);
    return out;
}
} // namespace nsdump
