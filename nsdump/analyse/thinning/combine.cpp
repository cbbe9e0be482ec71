// SPDX-License-Identifier: MIT
// analyse: net value by thinning and by calibration -> the one to report.
#include "analyse/thinning/combine.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace nsdump
{
// Each value counts by the square of the other's half width.  A bound that is part of both cannot
// become smaller by combining them, and does not explain a difference between them.  Nor can that
// for work which reads overtake, so calibration adds nothing to thinning there.
void combine(const FieldReport &ticks, SliceThinning &thinning)
{
    if (ticks.net && ticks.net->trimmed_ci95)
        thinning.calibrated = Measured{ticks.net->trimmed_mean, *ticks.net->trimmed_ci95};
    if (!thinning.net) {
        thinning.combined = thinning.calibrated;
        return;
    }
    const Measured thinned = *thinning.net;
    thinning.used = NetSource::kThinning;
    thinning.combined = thinned;
    if (!thinning.calibrated)
        return;
    const Measured calibrated = *thinning.calibrated;
    const double shared = std::min({thinning.shared_bound, thinned.ci95, calibrated.ci95});
    const double h_t = thinned.ci95 - shared, h_c = calibrated.ci95 - shared;
    const double both = h_t * h_t + h_c * h_c;
    thinning.is_contradiction = contradict({thinned.value, h_t}, {calibrated.value, h_c});
    if (!thinning.is_contradiction && !thinning.is_overtaking && both > 0) {
        const double weight = h_c * h_c / both;
        thinning.used = NetSource::kBoth;
        thinning.combined = Measured{weight * thinned.value + (1 - weight) * calibrated.value,
                                     shared + std::hypot(weight * h_t, (1 - weight) * h_c)};
    }
    thinning.shift = thinning.combined->value - calibrated.value;
}

namespace
{
void shift_distribution(Distribution &net, double shift, uint64_t count)
{
    for (double *value : {&net.mean, &net.min, &net.max, &net.trimmed_mean})
        *value += shift;
    for (auto *quantile : {&net.p50, &net.p90, &net.p99, &net.p999})
        if (*quantile)
            **quantile += shift;
    net.total += shift * double(count);
}
} // namespace

void shift_net(FieldReport &ticks, const SliceThinning &thinning)
{
    if (!ticks.net || !thinning.net || !thinning.combined)
        return;
    const double shift = thinning.shift, ci95 = thinning.combined->ci95;
    shift_distribution(*ticks.net, shift, ticks.count);
    ticks.net->trimmed_ci95 = ci95;
    // The mean scatters more than the trimmed mean.
    if (ticks.net->sampling_ci95)
        ticks.net->ci95 = std::hypot(ci95, *ticks.net->sampling_ci95);
    for (Bucket &bucket : ticks.histogram) {
        bucket.low += shift;
        bucket.high += shift;
        bucket.sum += shift * double(bucket.count);
    }
    if (!ticks.per_packet || !ticks.per_packet->net)
        return;
    PerPacket &packet = *ticks.per_packet;
    *packet.net += shift * packet.slices;
    if (packet.net_sampling_ci95)
        packet.net_ci95 = std::hypot(ci95 * packet.slices, *packet.net_sampling_ci95);
    packet.net_trimmed = ticks.net->trimmed_mean * packet.slices;
    packet.net_trimmed_ci95 = ci95 * packet.slices;
}

std::string contradiction_words(const std::string &name, const SliceThinning &thinning,
                                double records)
{
    const Measured thinned = *thinning.net, calibrated = *thinning.calibrated;
    const double hidden = (thinned.value - calibrated.value) / (records > 0 ? records : 1);
    const char *const where = records > 0 ? "of each probe inside" : "of its own two reads";
    return fmt::format(
        "{}: slice {}: {:.1f} ± "
        "{:.1f} against {:.1f} ± {:.1f} ticks; {}; thinning is used",
        kContradiction, name, calibrated.value, calibrated.ci95, thinned.value, thinned.ci95,
        hidden > 0 ? fmt::format("the code hides {:.1f} ticks {}", hidden, where)
                   : fmt::format("the code adds {:.1f} ticks to the cost {}", -hidden, where));
}
} // namespace nsdump
