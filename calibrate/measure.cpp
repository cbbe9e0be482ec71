// SPDX-License-Identifier: MIT
// measure: a loop, run n and 2n times -> mean cost of one round, with its interval.
#include "measure.hpp"

#include <algorithm>
#include <cmath>

#include <nsprobe/sample.h>

namespace calibrate
{
Estimate trimmed_mean(std::vector<double> values)
{
    const nsp_estimate estimate = nsp_trimmed_mean(values.data(), uint32_t(values.size()));
    return {estimate.mean, estimate.ci95, 0, estimate.samples, estimate.trimmed};
}

Estimate measure_loop(Loop loop, uint32_t rounds, uint32_t batches, ReadTicks read_ticks)
{
    std::vector<double> values;
    values.reserve(batches);
    loop(rounds); // warms caches and predictors
    for (uint32_t i = 0; i < batches; ++i) {
        const uint64_t begin = read_ticks();
        loop(rounds);
        const uint64_t middle = read_ticks();
        loop(2 * rounds);
        const uint64_t end = read_ticks();
        const auto once = double(middle - begin);
        const auto twice = double(end - middle);
        values.push_back((twice - once) / rounds);
    }
    return trimmed_mean(std::move(values));
}

Estimate without(const Estimate &whole, const Estimate &baseline)
{
    Estimate net = whole;
    net.mean -= baseline.mean;
    net.ci95 = std::hypot(whole.ci95, baseline.ci95);
    return net;
}

Estimate combine(std::vector<Estimate> passes)
{
    if (passes.empty())
        return {};
    if (passes.size() == 1)
        return passes.front();
    std::sort(passes.begin(), passes.end(),
              [](const Estimate &a, const Estimate &b) { return a.mean < b.mean; });
    std::vector<double> means;
    for (const Estimate &pass : passes)
        means.push_back(pass.mean);
    Estimate whole = trimmed_mean(means);
    const size_t cut = whole.trimmed / 2, kept = passes.size() - 2 * cut;

    double squares = 0;
    whole.batches = 0;
    whole.trimmed = 0;
    for (size_t i = 0; i < passes.size(); ++i) {
        const bool is_kept = i >= cut && i < cut + kept;
        whole.batches += passes[i].batches;
        whole.trimmed += is_kept ? passes[i].trimmed : passes[i].batches;
        squares += is_kept ? passes[i].ci95 * passes[i].ci95 : 0;
    }
    whole.ci95 = std::max(whole.ci95, std::sqrt(squares) / double(kept));
    if (whole.mean != 0)
        whole.spread = (means[cut + kept - 1] - means[cut]) / std::fabs(whole.mean);
    return whole;
}
} // namespace calibrate
