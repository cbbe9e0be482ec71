// SPDX-License-Identifier: MIT
// analyse: one slice + constants -> its net values and its class, as rows of exports have them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analyse/correct/subtract.hpp"

namespace nsdump
{
inline double net_ticks_of(const Slice &slice, const Correction &correction)
{
    const FieldConstants &constants = correction.of(slice.cpu_index, 0);
    double taken = 0;
    if (slice.interruptions)
        taken = taken_ticks(*slice.interruptions, correction.of(slice.kernel_index, 0)) +
                way_cost(slice.interruptions->ways, correction.ways_of(slice.cpu_index, 0),
                         constants.inner);
    return net_of(double(slice.raw_ticks), slice.inside, constants, slice.programs) - taken;
}

// Of a slice with counters.
inline double net_counter_of(const Slice &slice, size_t counter, const Correction &correction)
{
    const FieldConstants &constants = correction.of(slice.cpu_index, counter + 1);
    double taken =
        slice.interrupt_counters
            ? taken_of(*slice.interruptions, double(slice.interrupt_counters[counter]), constants)
            : 0;
    if (slice.interruptions)
        taken += way_cost(slice.interruptions->ways,
                          correction.ways_of(slice.cpu_index, counter + 1), constants.inner);
    return net_of(double(slice.counters[counter]), slice.inside, constants, slice.programs) - taken;
}

// Why the net time of a slice is not like that of others; the first that applies.
enum class SliceClass : uint8_t { ok, below_noise, migrated, spans_loss, crossed, interrupted };
inline constexpr const char *kSliceClassNames[] = {"ok",         "below-noise", "migrated",
                                                   "spans-loss", "crossed",     "interrupted"};

inline SliceClass slice_class_of(const Slice &slice, bool is_below_noise)
{
    if (slice.is_migrated)
        return SliceClass::migrated;
    if (slice.spans_loss)
        return SliceClass::spans_loss;
    if (slice.is_crossed)
        return SliceClass::crossed;
    if (slice.is_interrupted)
        return SliceClass::interrupted;
    return is_below_noise ? SliceClass::below_noise : SliceClass::ok;
}

inline const char *slice_class_name(SliceClass of)
{
    return kSliceClassNames[size_t(of)];
}
} // namespace nsdump
