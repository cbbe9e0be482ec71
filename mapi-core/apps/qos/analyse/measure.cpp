// SPDX-License-Identifier: MIT
// measure: statistics of one list of packets.
#include "qos/analyse/measure.hpp"

#include <algorithm>
#include <cmath>

namespace qos
{
namespace
{
constexpr double kNsPerMs = 1e6;

struct Arrival {
    int64_t arrived_ns = 0;
    size_t number = 0; // in the order in which they were sent
    double delay_ms = 0;
};

std::vector<Arrival> arrivals_of(const std::vector<Passage> &passages)
{
    std::vector<Arrival> arrivals;
    for (size_t i = 0; i < passages.size(); ++i)
        if (passages[i].copies > 0)
            arrivals.push_back({passages[i].arrived_ns, i, passages[i].delay_ns / kNsPerMs});
    std::stable_sort(arrivals.begin(), arrivals.end(), [](const Arrival &a, const Arrival &b) {
        return a.arrived_ns < b.arrived_ns;
    });
    return arrivals;
}

// The least value that more than this part of the values do not exceed.
double percentile(const std::vector<double> &sorted, double part)
{
    const auto place = size_t(part * double(sorted.size()));
    return sorted[std::min(place, sorted.size() - 1)];
}

Delays delays_of(const std::vector<Arrival> &arrivals, double rate)
{
    std::vector<double> sorted;
    double sum = 0, squares = 0;
    for (const Arrival &arrival : arrivals) {
        sorted.push_back(arrival.delay_ms);
        sum += arrival.delay_ms;
    }
    std::sort(sorted.begin(), sorted.end());
    const auto count = double(sorted.size());
    Delays delays;
    delays.min_ms = sorted.front();
    delays.max_ms = sorted.back();
    delays.mean_ms = sum / count;
    delays.p50_ms = percentile(sorted, 0.5);
    delays.p95_ms = percentile(sorted, 0.95);
    delays.p99_ms = percentile(sorted, 0.99);
    for (const double delay : sorted)
        squares += (delay - delays.mean_ms) * (delay - delays.mean_ms);
    const double half =
        sorted.size() < 2 ? 0
                          : student_95(sorted.size()) *
                                std::sqrt(squares / (count - 1) / count * std::max(0.0, 1 - rate));
    delays.mean_interval_ms = {delays.mean_ms - half, delays.mean_ms + half};
    return delays;
}

Variation variation_of(const std::vector<Arrival> &arrivals)
{
    constexpr double kGain = 16; // RFC 3550 6.4.1
    Variation variation;
    for (size_t i = 1; i < arrivals.size(); ++i) {
        const double change = arrivals[i].delay_ms - arrivals[i - 1].delay_ms;
        variation.min_ms = i == 1 ? change : std::min(variation.min_ms, change);
        variation.max_ms = i == 1 ? change : std::max(variation.max_ms, change);
        variation.mean_abs_ms += std::abs(change);
        variation.jitter_ms += (std::abs(change) - variation.jitter_ms) / kGain;
        ++variation.pairs;
    }
    variation.mean_abs_ms /= double(variation.pairs);
    return variation;
}

uint64_t reordered_of(const std::vector<Arrival> &arrivals)
{
    size_t next = 0;
    uint64_t reordered = 0;
    for (const Arrival &arrival : arrivals) {
        if (arrival.number < next)
            ++reordered;
        else
            next = arrival.number + 1;
    }
    return reordered;
}
} // namespace

Measured measure(const std::vector<Passage> &passages, double rate)
{
    const std::vector<Arrival> arrivals = arrivals_of(passages);
    Measured measured;
    measured.sent = passages.size();
    measured.received = arrivals.size();
    measured.lost = measured.sent - measured.received;
    measured.reordered = reordered_of(arrivals);
    measured.loss_interval = loss_interval(measured.sent, measured.lost, rate);
    for (const Passage &passage : passages)
        measured.duplicates += passage.copies > 1 ? passage.copies - 1 : 0;
    if (!arrivals.empty())
        measured.delays = delays_of(arrivals, rate);
    if (arrivals.size() > 1)
        measured.variation = variation_of(arrivals);
    return measured;
}
} // namespace qos
