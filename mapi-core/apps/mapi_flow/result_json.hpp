// SPDX-License-Identifier: MIT
// result_json: a function's result -> JSON with the member names of <mapi/results.h>.
#pragma once

#include <string>

#include <mapi/mapi.h>
#include <nlohmann/json.hpp>

namespace mapi_flow
{
// For an unknown function: a number, an array of numbers, or bytes in hex.
nlohmann::ordered_json result_json(const std::string &function, const mapi_results_t &results);
nlohmann::ordered_json packet_json(const mapipkt &packet);
} // namespace mapi_flow
