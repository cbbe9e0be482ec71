// SPDX-License-Identifier: MIT
// additive_fit: weighted least squares by rank-revealing QR decomposition -> those equations that
// follow one model.
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
#include <cmath>

#define EIGEN_MPL2_ONLY
#include <Eigen/Dense>

namespace mapi_cost
{
namespace
{
using Eigen::Index;

constexpr double kRankThreshold = 1e-9; // errors span four or five powers of ten
constexpr double kLeastSpare =
    1e-11; // of an equation's weight: less is rounding error, so nothing is left to test it with
constexpr double kRounding = 1e-6;

// Frame bytes next to ones and zeros: scales the unknowns so that the columns are of similar size.
Eigen::VectorXd column_scales(const std::vector<Equation> &equations)
{
    const Index unknowns = Index(equations.front().coefficients.size());
    Eigen::VectorXd scales = Eigen::VectorXd::Zero(unknowns);
    for (const Equation &equation : equations)
        for (Index j = 0; j < unknowns; ++j)
            scales[j] = std::max(scales[j], std::fabs(equation.coefficients[size_t(j)]));
    return (scales.array() > 0).select(scales, 1);
}

struct Weighted {
    Eigen::VectorXd scales;
    Eigen::MatrixXd matrix;
    Eigen::VectorXd values;

    explicit Weighted(const std::vector<Equation> &equations)
        : scales(column_scales(equations)), matrix(Index(equations.size()), scales.size()),
          values(Index(equations.size()))
    {
        for (Index i = 0; i < values.size(); ++i) {
            const Equation &equation = equations[size_t(i)];
            matrix.row(i) = scaled(equation.coefficients).transpose() / equation.error;
            values[i] = equation.value / equation.error;
        }
    }

    Eigen::VectorXd scaled(const std::vector<double> &coefficients) const
    {
        return Eigen::Map<const Eigen::VectorXd>(coefficients.data(), scales.size())
            .cwiseQuotient(scales);
    }
};
} // namespace

bool is_within(const Equation &equation, const Estimate &others)
{
    const double tolerance = std::hypot(equation.error, others.ci95);
    return std::fabs(equation.value - others.value) <= tolerance * (1 + kRounding);
}

// With the leverage h of an equation (diagonal of the hat matrix), leaving it out changes its
// residual from r to r / (1 - h), so no fit without it is needed.
CrossCheck cross_check(const std::vector<Equation> &equations)
{
    const Weighted weighted(equations);
    Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr;
    qr.setThreshold(kRankThreshold);
    qr.compute(weighted.matrix);
    const Eigen::MatrixXd basis =
        qr.householderQ() * Eigen::MatrixXd::Identity(weighted.matrix.rows(), qr.rank());
    const Eigen::VectorXd residuals =
        weighted.values - basis * (basis.transpose() * weighted.values);

    CrossCheck check;
    check.rank = uint64_t(qr.rank());
    check.chi_squared = residuals.squaredNorm();
    for (size_t i = 0; i < equations.size(); ++i) {
        const Equation &equation = equations[i];
        const double leverage = basis.row(Index(i)).squaredNorm();
        const double spare = 1 - leverage;
        if (spare < kLeastSpare) {
            check.others.emplace_back();
            continue;
        }
        const Estimate others = {equation.value - equation.error * residuals[Index(i)] / spare,
                                 equation.error * std::sqrt(leverage / spare)};
        check.do_agree &= is_within(equation, others);
        check.others.emplace_back(others);
    }
    return check;
}

// The minimum-norm solution; sums that the equations determine are the same in all solutions.
std::vector<std::optional<Estimate>> solve(const std::vector<Equation> &equations,
                                           const std::vector<std::vector<double>> &sums)
{
    const Weighted weighted(equations);
    Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
    decomposition.setThreshold(kRankThreshold);
    decomposition.compute(weighted.matrix);
    const Eigen::MatrixXd inverse = decomposition.pseudoInverse();
    const Eigen::VectorXd unknowns = inverse * weighted.values;
    const Eigen::MatrixXd known =
        inverse * weighted.matrix; // projection onto what the equations determine

    std::vector<std::optional<Estimate>> estimates;
    for (const auto &sum : sums) {
        const Eigen::VectorXd row = weighted.scaled(sum);
        if ((known * row - row).norm() > kRounding * row.norm())
            estimates.emplace_back();
        else
            estimates.emplace_back(Estimate{row.dot(unknowns), (inverse.transpose() * row).norm()});
    }
    return estimates;
}

namespace
{
constexpr size_t kMostLeftOutPart = 4; // a quarter

struct Choice {
    std::vector<bool> is_left_out;
    size_t unknowns_left_out = 0;
    CrossCheck check; // of the equations that are kept
};

std::vector<Equation> kept(const std::vector<Equation> &equations,
                           const std::vector<bool> &is_left_out)
{
    std::vector<Equation> rest;
    for (size_t i = 0; i < equations.size(); ++i)
        if (!is_left_out[i])
            rest.push_back(equations[i]);
    return rest;
}

bool has_definition(const std::vector<Equation> &equations, const std::vector<bool> &is_left_out)
{
    for (size_t i = 0; i < equations.size(); ++i)
        if (is_left_out[i] && equations[i].is_definition)
            return true;
    return false;
}

// If several choices make the others agree, the one that removes equations with the most unknowns
// is preferred.
size_t unknowns_left_out(const std::vector<Equation> &equations,
                         const std::vector<bool> &is_left_out)
{
    size_t unknowns = 0;
    for (size_t i = 0; i < equations.size(); ++i)
        if (is_left_out[i])
            unknowns += size_t(std::count_if(equations[i].coefficients.begin(),
                                             equations[i].coefficients.end(),
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

std::optional<Choice> best_choice(const std::vector<Equation> &equations, size_t left_out,
                                  uint64_t rank)
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
    const uint64_t rank = best.check.rank;
    for (size_t left_out = 1;
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
    const size_t unknowns = equations.front().coefficients.size();
    for (size_t j = 0; j < unknowns; ++j) {
        sums.emplace_back(unknowns, 0.0);
        sums.back()[j] = 1;
    }
    for (size_t i = 0; i < equations.size(); ++i)
        if (fit.is_left_out[i])
            sums.push_back(equations[i].coefficients);
    const auto solved = solve(rest, sums);
    fit.unknowns.assign(solved.begin(), solved.begin() + ptrdiff_t(unknowns));
    auto of_left_out = solved.begin() + ptrdiff_t(unknowns);
    auto of_kept = choice.check.others.begin();
    for (size_t i = 0; i < equations.size(); ++i)
        fit.others.push_back(fit.is_left_out[i] ? *of_left_out++ : *of_kept++);
    return fit;
}
} // namespace mapi_cost
