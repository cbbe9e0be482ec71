// SPDX-License-Identifier: MIT
#include "analyse/thinning/cells/clusters.hpp"

#include "simulation/random.hpp"
#include "support/catch.hpp"

using nsdump::Cluster;
using nsdump::ClusteredMean;

namespace
{
// Epochs alternate between two cells with this scatter of their means.
struct TwoCells {
    std::vector<Cluster> epochs[2];
    ClusteredMean means[2];

    template <class Load> TwoCells(int count, double scatter0, double scatter1, const Load &load)
    {
        simulation::Random random(3);
        for (int i = 0; i < count; ++i) {
            const double scatter = i % 2 == 0 ? scatter0 : scatter1;
            epochs[i % 2].push_back({uint32_t(i), 1, 100 + scatter * random.normal() + load(i)});
        }
        for (int cell = 0; cell < 2; ++cell)
            means[cell] = nsdump::clustered_mean(epochs[cell]);
    }
    double session_error() const
    {
        return nsdump::session_error({{&means[0], &epochs[0]}, {&means[1], &epochs[1]}});
    }
};

double no_load(int)
{
    return 0;
}
// The same for 25 of 400 epochs.
double slow_load(int epoch)
{
    return epoch / 25 % 2 == 0 ? 5 : -5;
}
} // namespace

TEST_CASE("a cell that scatters much does not make the error of one that scatters little large",
          "[nsdump][thinning]")
{
    const double alike = TwoCells(400, 1, 1, no_load).session_error();
    const double noisy = TwoCells(400, 1, 100, no_load).session_error();
    CHECK(alike < 0.1);
    CHECK(noisy < 0.2);
}

TEST_CASE("load that neighbouring epochs share is in the error of the session",
          "[nsdump][thinning]")
{
    for (const double scatter : {1.0, 100.0}) {
        CAPTURE(scatter);
        const double error = TwoCells(400, 1, scatter, slow_load).session_error();
        CHECK(error > 0.9); // 16 blocks of 5 and -5: 1.25
        CHECK(error < 1.6);
    }
}

TEST_CASE("epochs that are all alike have no error of the session", "[nsdump][thinning]")
{
    CHECK(TwoCells(400, 0, 0, no_load).session_error() == 0);
    CHECK(nsdump::session_error({}) == 0);
}

TEST_CASE("a cell of one epoch says nothing about the session", "[nsdump][thinning]")
{
    const TwoCells two(400, 1, 2, slow_load);
    const std::vector<Cluster> single = {{401, 1, 1e6}};
    const ClusteredMean mean = nsdump::clustered_mean(single);
    CHECK(nsdump::session_error({{&two.means[0], &two.epochs[0]},
                                 {&two.means[1], &two.epochs[1]},
                                 {&mean, &single}}) == two.session_error());
}
