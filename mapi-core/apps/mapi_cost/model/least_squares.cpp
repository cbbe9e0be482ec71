// SPDX-License-Identifier: MIT
// least_squares: weighted least squares by rank-revealing QR decomposition.
#include "least_squares.hpp"

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
            scales[j] = std::max(scales[j], std::fabs(equation.coefficients[std::size_t(j)]));
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
            const Equation &equation = equations[std::size_t(i)];
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
    check.rank = std::uint64_t(qr.rank());
    check.chi_squared = residuals.squaredNorm();
    for (std::size_t i = 0; i < equations.size(); ++i) {
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
} // namespace mapi_cost
