// SPDX-License-Identifier: MIT
// additive_table: the models of a run -> their terms, and how far each scenario is from them, in words too.
#pragma once

#include <string>

#include "rows.hpp"

namespace mapi_cost
{
// Empty when no row is in a model.
std::string additive_text(const Results &results);
} // namespace mapi_cost
