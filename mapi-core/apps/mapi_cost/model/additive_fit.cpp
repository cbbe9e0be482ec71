// SPDX-License-Identifier: MIT
// additive_fit: equations -> those that follow one model.
//
// In plain least squares, one bad equation shifts the unknowns until good equations look bad.
// Repeatedly removing the worst one fails if two bad ones support each other.  There are few
// equations, so all choices are tried.
//
// Equations that define an unknown are kept.  Without the cost of no function, for example, the
// cost of every function could grow by what the base shrinks, held only by scenarios of several
// functions.
#include "additive_fit.hpp"

#include <algorithm>

namespace mapi_cost
{
namespace
{
constexpr std::size_t kMostLeftOutPart = 4; // a quarter

struct Choice {
    std::vector<bool> is_left_out;
    std::size_t unknowns_left_out = 0;
    CrossCheck check; // of the equations that are kept
};

std::vector<Equation> kept(const std::vector<Equation> &equations,
                           const std::vector<bool> &is_left_out)
{
    std::vector<Equation> rest;
    for (std::size_t i = 0; i < equations.size(); ++i)
        if (!is_left_out[i])
            rest.push_back(equations[i]);
    return rest;
}

bool has_definition(const std::vector<Equation> &equations, const std::vector<bool> &is_left_out)
{
    for (std::size_t i = 0; i < equations.size(); ++i)
        if (is_left_out[i] && equations[i].is_definition)
            return true;
    return false;
}

// If several choices make the others agree, the one that removes equations with the most unknowns
// is preferred.
std::size_t unknowns_left_out(const std::vector<Equation> &equations,
                              const std::vector<bool> &is_left_out)
{
    std::size_t unknowns = 0;
    for (std::size_t i = 0; i < equations.size(); ++i)
        if (is_left_out[i])
            unknowns += std::size_t(
                std::count_if(equations[i].coefficients.begin(), equations[i].coefficients.end(),
                              [](double coefficient) { return coefficient != 0; }));
    return unknowns;
}

bool is_better(const Choice &one, const Choice &other)
{
    if (one.check.do_agree != other.check.do_agree)
        return one.check.do_agree;
    if (one.check.do_agree && one.unknowns_left_out != other.unknowns_left_out)
        return one.unknowns_left_out > other.unknowns_left_out;
    return one.check.chi_squared < other.check.chi_squared;
}

std::optional<Choice> best_choice(const std::vector<Equation> &equations, std::size_t left_out,
                                  std::uint64_t rank)
{
    std::optional<Choice> best;
    std::vector<bool> mask(equations.size(), false);
    std::fill_n(mask.begin(), left_out, true);
    do {
        if (has_definition(equations, mask))
            continue;
        Choice choice{mask, unknowns_left_out(equations, mask), cross_check(kept(equations, mask))};
        if (choice.check.rank == rank && (!best || is_better(choice, *best)))
            best = std::move(choice);
    } while (std::prev_permutation(mask.begin(), mask.end()));
    return best;
}

Choice choose(const std::vector<Equation> &equations)
{
    Choice best{std::vector<bool>(equations.size(), false), 0, cross_check(equations)};
    const std::uint64_t rank = best.check.rank;
    for (std::size_t left_out = 1;
         !best.check.do_agree && left_out <= equations.size() / kMostLeftOutPart; ++left_out)
        if (auto found = best_choice(equations, left_out, rank))
            best = std::move(*found);
    return best;
}
} // namespace

AdditiveFit additive_fit(const std::vector<Equation> &equations)
{
    AdditiveFit fit;
    if (equations.empty())
        return fit;
    const Choice choice = choose(equations);
    const std::vector<Equation> rest = kept(equations, choice.is_left_out);
    fit.is_left_out = choice.is_left_out;
    fit.spare = rest.size() - choice.check.rank;
    fit.do_agree = choice.check.do_agree;

    std::vector<std::vector<double>> sums;
    const std::size_t unknowns = equations.front().coefficients.size();
    for (std::size_t j = 0; j < unknowns; ++j) {
        sums.emplace_back(unknowns, 0.0);
        sums.back()[j] = 1;
    }
    for (std::size_t i = 0; i < equations.size(); ++i)
        if (fit.is_left_out[i])
            sums.push_back(equations[i].coefficients);
    const auto solved = solve(rest, sums);
    fit.unknowns.assign(solved.begin(), solved.begin() + std::ptrdiff_t(unknowns));
    auto of_left_out = solved.begin() + std::ptrdiff_t(unknowns);
    auto of_kept = choice.check.others.begin();
    for (std::size_t i = 0; i < equations.size(); ++i)
        fit.others.push_back(fit.is_left_out[i] ? *of_left_out++ : *of_kept++);
    return fit;
}
} // namespace mapi_cost
