// SPDX-License-Identifier: MIT
#include "analyse/thinning/fit.hpp"

#include "analyse/thinning/cells/clusters.hpp"
#include "support/catch.hpp"

using nsdump::CellMean;
using nsdump::fit_cells;

TEST_CASE("what each name adds is found from cells in which it was on and off",
          "[nsdump][thinning]")
{
    const std::vector<CellMean> cells = {{{true, true}, 100, 1, 20, 40},
                                         {{false, true}, 70, 1, 20, 10},
                                         {{true, false}, 80, 1, 20, 10},
                                         {{false, false}, 50, 1, 20, 10}};
    const auto fitted = fit_cells(cells, 2);
    REQUIRE(fitted.size() == 2);
    CHECK(fitted[0].unknowns == std::vector<size_t>{0});
    CHECK(fitted[0].sum == Approx(30));
    CHECK(fitted[1].sum == Approx(20));
    CHECK(fitted[0].error.ci95() > 1);
    CHECK(fitted[0].error.ci95() < 5);
}

TEST_CASE("names that were never switched separately have only a sum", "[nsdump][thinning]")
{
    const std::vector<CellMean> cells = {{{true, true, true}, 100, 1, 20, 40},
                                         {{false, false, true}, 60, 1, 20, 10},
                                         {{true, true, false}, 95, 1, 20, 10}};
    const auto fitted = fit_cells(cells, 3);
    REQUIRE(fitted.size() == 2);
    CHECK(fitted[0].unknowns == std::vector<size_t>{0, 1});
    CHECK(fitted[0].sum == Approx(40));
    CHECK(fitted[1].unknowns == std::vector<size_t>{2});
    CHECK(fitted[1].sum == Approx(5));
}

TEST_CASE("a name that was never off is in no result", "[nsdump][thinning]")
{
    const auto fitted =
        fit_cells({{{true, true}, 100, 1, 20, 40}, {{false, true}, 60, 1, 20, 10}}, 2);
    REQUIRE(fitted.size() == 1);
    CHECK(fitted[0].unknowns == std::vector<size_t>{0});
    CHECK(fit_cells({}, 2).empty());
}

TEST_CASE("cells that do not add up widen the error", "[nsdump][thinning]")
{
    std::vector<CellMean> cells = {{{true, true}, 100, 1, 20, 10},
                                   {{false, true}, 70, 1, 20, 10},
                                   {{true, false}, 80, 1, 20, 10},
                                   {{false, false}, 50, 1, 20, 10}};
    const double good = fit_cells(cells, 2)[0].error.ci95();
    cells[3].mean = 70;
    CHECK(fit_cells(cells, 2)[0].error.ci95() == Approx(good * 10).epsilon(0.01));
}

TEST_CASE("clusters of equal size have the error of their means", "[nsdump][thinning]")
{
    const auto mean = nsdump::clustered_mean({{0, 10, 100}, {1, 10, 120}, {2, 10, 110}});
    CHECK(mean.mean == Approx(11));
    CHECK(mean.standard_error == Approx(1 / std::sqrt(3.0)));
    CHECK(mean.degrees == Approx(2));
    CHECK(mean.effective == Approx(3));
}

TEST_CASE("clusters of unequal size count as fewer", "[nsdump][thinning]")
{
    const auto mean =
        nsdump::clustered_mean({{0, 100, 1000}, {1, 1, 12}, {2, 1, 11}, {3, 1, 9}, {4, 1, 10}});
    CHECK(mean.effective < 1.2);
    CHECK(mean.degrees < 0.2);
    CHECK(nsdump::clustered_mean({}).clusters == 0);
    CHECK(nsdump::clustered_mean({{0, 5, 10}}).standard_error == 0);
}
