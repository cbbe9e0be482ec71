// SPDX-License-Identifier: MIT
// csv: results -> one line a row, figures of 2004 as printed; a field that was not measured is empty.
#pragma once

#include <string>

#include "rows.hpp"

namespace mapi_cost
{
std::string csv_text(const Results &results);
} // namespace mapi_cost
