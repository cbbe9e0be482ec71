// SPDX-License-Identifier: MIT
// reference_clock: differences of time stamps -> whether the first clock can give the times.
#pragma once

#include <vector>

#include "qos/analyse/clock.hpp"
#include "qos/analyse/match.hpp"

namespace qos
{
// A clock that has stepped back gives packets before and behind the step the same times: then the
// other clock must give them.
bool is_second_steadier(const std::vector<ClockSample> &samples, const ClockModel &by_first);
} // namespace qos
