// SPDX-License-Identifier: MIT
// live_table: of each row of a live device, what came and what was lost.
#pragma once

#include <string>

#include "rows.hpp"

namespace mapi_cost
{
// "12 kernel, 3 buffer full"; "none".
std::string drops_text(const Arrivals &arrivals);
// Empty without a live device.
std::string live_text(const Results &results);
} // namespace mapi_cost
