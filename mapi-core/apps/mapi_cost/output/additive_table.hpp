// SPDX-License-Identifier: MIT
// additive_table: the models of a run -> text: terms, distance of each scenario from the model,
// conclusions.
#pragma once

#include <string>

#include "rows.hpp"

namespace mapi_cost
{
// Empty when no row is in a model.
std::string additive_text(const Results &results);
} // namespace mapi_cost
