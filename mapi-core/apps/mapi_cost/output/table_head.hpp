// SPDX-License-Identifier: MIT
// table_head: results -> the lines above the tables (machine, sources, probes, losses) and below
// (notes).
#pragma once

#include <string>

#include "rows.hpp"

namespace mapi_cost
{
std::string head_text(const Results &results);
std::string notes_text(const Results &results);
} // namespace mapi_cost
