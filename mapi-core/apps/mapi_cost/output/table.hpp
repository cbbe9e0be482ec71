// SPDX-License-Identifier: MIT
// table: results -> text of at most 120 columns.
#pragma once

#include <string>

#include "rows.hpp"

namespace mapi_cost
{
std::string table_text(const Results &results);
} // namespace mapi_cost
