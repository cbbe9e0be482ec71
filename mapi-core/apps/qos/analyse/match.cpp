// SPDX-License-Identifier: MIT
// match: two lists in the order of digests, side by side.
#include "qos/analyse/match.hpp"

#include <algorithm>

namespace qos
{
namespace
{
constexpr double kDigests = 18446744073709551616.0; // 2^64

using Place = std::vector<Sighting>::const_iterator;

std::span<const Sighting> take_digest(Place &place, Place end, uint64_t digest)
{
    const Place begin = place;
    while (place != end && place->digest == digest)
        ++place;
    return {begin, place};
}

bool is_one_flow(const Copies &copies)
{
    const auto is_same = [&](const Sighting &one) { return one.flow == copies.flow; };
    return std::all_of(copies.at_from.begin(), copies.at_from.end(), is_same) &&
           std::all_of(copies.at_to.begin(), copies.at_to.end(), is_same);
}
} // namespace

Matches match(const Observations &seen)
{
    Matches matches;
    Place from = seen.from.sightings.begin(), to = seen.to.sightings.begin();
    const Place from_end = seen.from.sightings.end(), to_end = seen.to.sightings.end();
    while (from != from_end || to != to_end) {
        const uint64_t digest = from == from_end ? to->digest
                                : to == to_end   ? from->digest
                                                 : std::min(from->digest, to->digest);
        Copies copies;
        copies.flow = from != from_end && from->digest == digest ? from->flow : to->flow;
        copies.at_from = take_digest(from, from_end, digest);
        copies.at_to = take_digest(to, to_end, digest);
        ++matches.digests;
        if (is_one_flow(copies)) {
            matches.copies.push_back(copies);
        } else {
            ++matches.collided_digests;
            matches.collided_sightings += copies.at_from.size() + copies.at_to.size();
        }
    }
    const auto count = double(matches.digests);
    matches.expected_collisions = count > 1 ? count * (count - 1) / 2 / kDigests : 0;
    return matches;
}

std::vector<ClockSample> clock_samples(const Matches &matches)
{
    std::vector<ClockSample> samples;
    for (const Copies &copies : matches.copies) {
        if (copies.at_from.size() != 1 || copies.at_to.size() != 1)
            continue;
        const Sighting &from = copies.at_from.front(), &to = copies.at_to.front();
        samples.push_back({from.time_ns, to.time_ns - from.time_ns,
                           int(from.hop_limit) - int(to.hop_limit), copies.flow});
    }
    std::sort(samples.begin(), samples.end(),
              [](const ClockSample &a, const ClockSample &b) { return a.time_ns < b.time_ns; });
    return samples;
}
} // namespace qos
