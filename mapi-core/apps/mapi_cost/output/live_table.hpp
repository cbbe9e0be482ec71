// SPDX-License-Identifier: MIT
// live_table: packets received and lost by each row of a live device -> text.
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
