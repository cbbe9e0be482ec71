// SPDX-License-Identifier: MIT
// analyse: means of cells -> what each name inside adds, by weighted least squares.
//
// Cells are weighted by their effective number of epochs and not by their own standard errors:
// short durations have small errors, so the latter would pull every mean down.  The error of the
// result follows from the cells' own errors.
#include "analyse/thinning/fit.hpp"

#include <algorithm>
#include <cmath>

#define EIGEN_MPL2_ONLY
#include <Eigen/Dense>

namespace nsdump
{
namespace
{
using Eigen::Index;

constexpr double kRankThreshold = 1e-9;
constexpr double kSame = 1e-6;

struct Solver {
    Eigen::MatrixXd inverse;    // unknowns x cells: estimates of least norm
    Eigen::MatrixXd resolution; // the identity where an unknown is determined

    Solver(const std::vector<CellMean> &cells, size_t unknowns)
    {
        const Index rows = Index(cells.size()), columns = Index(unknowns) + 1;
        Eigen::MatrixXd weighted(rows, columns);
        Eigen::VectorXd roots(rows);
        for (Index i = 0; i < rows; ++i) {
            roots[i] = std::sqrt(cells[size_t(i)].weight);
            weighted(i, 0) = roots[i];
            for (Index j = 1; j < columns; ++j)
                weighted(i, j) = cells[size_t(i)].is_on[size_t(j) - 1] ? roots[i] : 0;
        }
        Eigen::CompleteOrthogonalDecomposition<Eigen::MatrixXd> decomposition;
        decomposition.setThreshold(kRankThreshold);
        decomposition.compute(weighted);
        const Eigen::MatrixXd pseudo = decomposition.pseudoInverse();
        resolution = pseudo * weighted;
        inverse = pseudo * roots.asDiagonal();
        rank = decomposition.rank();
    }
    Index rank;
};

// Chi squared that chance exceeds in 5 of 100 cases (Wilson and Hilferty, 1931).
double chi2_by_chance(double degrees)
{
    const double part = 2 / (9 * degrees);
    return degrees * std::pow(1 - part + 1.645 * std::sqrt(part), 3);
}

// The factor by which cells scatter about the fit more than their errors explain; 1 if that may be
// chance.  With one spare cell, chance alone would widen every third error.
double scatter_of(const std::vector<CellMean> &cells, const Solver &solver)
{
    const Index spare = Index(cells.size()) - solver.rank;
    if (spare <= 0)
        return 1;
    Eigen::VectorXd means(Index(cells.size()));
    for (Index i = 0; i < means.size(); ++i)
        means[i] = cells[size_t(i)].mean;
    const Eigen::VectorXd fitted = solver.inverse * means;
    double chi2 = 0;
    for (Index i = 0; i < means.size(); ++i) {
        const CellMean &cell = cells[size_t(i)];
        double left = cell.mean - fitted[0];
        for (Index j = 1; j < fitted.size(); ++j)
            left -= cell.is_on[size_t(j) - 1] ? fitted[j] : 0;
        if (cell.standard_error > 0)
            chi2 += left * left / (cell.standard_error * cell.standard_error);
    }
    return chi2 > chi2_by_chance(double(spare)) ? std::sqrt(chi2 / double(spare)) : 1;
}

void set_sum(const std::vector<CellMean> &cells, const Eigen::RowVectorXd &row, double scatter,
             FittedGroup &out)
{
    for (size_t i = 0; i < cells.size(); ++i) {
        const double share = row[Index(i)];
        out.sum += share * cells[i].mean;
        out.shares.push_back(share);
        out.error.add(scatter * share * cells[i].standard_error, cells[i].degrees);
    }
}

// Unknowns that the resolution mixes with this one.
std::vector<size_t> mixed_with(const Solver &solver, size_t unknown, size_t unknowns)
{
    std::vector<size_t> group{unknown};
    for (size_t at = 0; at < group.size(); ++at)
        for (size_t other = 0; other < unknowns; ++other)
            if (std::fabs(solver.resolution(Index(group[at]) + 1, Index(other) + 1)) > kSame &&
                std::find(group.begin(), group.end(), other) == group.end())
                group.push_back(other);
    std::sort(group.begin(), group.end());
    return group;
}

// Whether the sum of the group is determined.
bool is_determined(const Solver &solver, const std::vector<size_t> &group)
{
    Eigen::RowVectorXd wanted = Eigen::RowVectorXd::Zero(solver.resolution.cols());
    for (const size_t unknown : group)
        wanted[Index(unknown) + 1] = 1;
    return (wanted * solver.resolution - wanted).cwiseAbs().maxCoeff() < kSame;
}
} // namespace

std::vector<FittedGroup> fit_cells(const std::vector<CellMean> &cells, size_t unknowns)
{
    std::vector<FittedGroup> out;
    if (cells.empty())
        return out;
    const Solver solver(cells, unknowns);
    const double scatter = scatter_of(cells, solver);
    std::vector<bool> is_done(unknowns);
    for (size_t unknown = 0; unknown < unknowns; ++unknown) {
        if (is_done[unknown])
            continue;
        const std::vector<size_t> group = mixed_with(solver, unknown, unknowns);
        Eigen::RowVectorXd row = Eigen::RowVectorXd::Zero(Index(cells.size()));
        for (const size_t one : group) {
            is_done[one] = true;
            row += solver.inverse.row(Index(one) + 1);
        }
        if (!is_determined(solver, group))
            continue;
        out.push_back({group, 0, {}, {}, 0});
        set_sum(cells, row, scatter, out.back());
    }
    return out;
}
} // namespace nsdump
