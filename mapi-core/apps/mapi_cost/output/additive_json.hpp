// SPDX-License-Identifier: MIT
// additive_json: the models of a run -> the member "additive" of netslice-mapi-cost-1.
#pragma once

#include <nlohmann/json.hpp>

#include "mapi_cost/model/additive.hpp"

namespace mapi_cost
{
nlohmann::ordered_json additive_json(const AdditiveModels &models);
} // namespace mapi_cost
