// SPDX-License-Identifier: MIT
// csv: results -> one line per row, with the published figures of 2004; a field that was not
// measured is empty.
#pragma once

#include <string>

#include "rows.hpp"

namespace mapi_cost
{
std::string csv_text(const Results &results);
} // namespace mapi_cost
