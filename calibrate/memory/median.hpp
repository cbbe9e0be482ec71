// SPDX-License-Identifier: MIT
// median: values -> their median and the 95 % interval of it by order statistics, which assumes no
// distribution.
#pragma once

#include <cstddef>
#include <vector>

namespace calibrate
{
struct Median {
    double value = 0;
    double low = 0, high = 0; // least and largest value if there are too few for an interval
    size_t count = 0;
};

Median median_of(std::vector<double> values);

// Values of passes that are spread over the run: the median of all; the interval also contains the
// medians of the passes, because what lasts a whole pass is invisible inside it.
Median median_of_passes(const std::vector<std::vector<double>> &passes);
} // namespace calibrate
