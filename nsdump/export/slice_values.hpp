// SPDX-License-Identifier: MIT
// export: a slice and the constants of its CPU -> its net values, by field.
#pragma once

#include "analyse/correct/subtract.hpp"

namespace nsdump
{
class SliceValues
{
public:
    explicit SliceValues(const Correction &correction) : correction_(correction) {}

    bool has_net_ticks(const Slice &slice) const
    {
        return correction_.of(slice.cpu_index, 0).is_known;
    }
    // The slice has to have counters.
    bool has_net_counter(const Slice &slice, size_t counter) const
    {
        return correction_.of(slice.cpu_index, counter + 1).is_known;
    }

    double net_ticks(const Slice &slice) const
    {
        const FieldConstants &constants = correction_.of(slice.cpu_index, 0);
        double taken = 0;
        if (slice.interruptions)
            taken = taken_ticks(*slice.interruptions, correction_.of(slice.kernel_index, 0)) +
                    way_cost(slice.interruptions->ways, correction_.ways_of(slice.cpu_index, 0),
                             constants.inner);
        return net_of(double(slice.raw_ticks), slice.inside, constants, slice.programs) - taken;
    }

    double net_counter(const Slice &slice, size_t counter) const
    {
        const FieldConstants &constants = correction_.of(slice.cpu_index, counter + 1);
        double taken = slice.interrupt_counters
                           ? taken_of(*slice.interruptions,
                                      double(slice.interrupt_counters[counter]), constants)
                           : 0;
        if (slice.interruptions)
            taken += way_cost(slice.interruptions->ways,
                              correction_.ways_of(slice.cpu_index, counter + 1), constants.inner);
        return net_of(double(slice.counters[counter]), slice.inside, constants, slice.programs) -
               taken;
    }

private:
    const Correction &correction_;
};
} // namespace nsdump
