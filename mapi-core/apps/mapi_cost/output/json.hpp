// SPDX-License-Identifier: MIT
// json: results -> schema netslice-mapi-cost-1.
#pragma once

#include <string>

#include "rows.hpp"

namespace mapi_cost
{
std::string json_text(const Results &results);
} // namespace mapi_cost
