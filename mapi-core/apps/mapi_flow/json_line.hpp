// SPDX-License-Identifier: MIT
// json_line: flows and the source's statistics -> one line of schema netslice-mapi-flow-1.
#pragma once

#include <string>

#include <mapi/mapi.h>
#include <nlohmann/json.hpp>

#include "flow.hpp"

namespace mapi_flow
{
// Includes the newline.  Bytes that are not valid UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json &json);
std::string json_line(const Flows &flows, const mapi_stat_t &stats, bool is_last);
} // namespace mapi_flow
