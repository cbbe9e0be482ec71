// SPDX-License-Identifier: MIT
// result_text: a function's result -> text.
#pragma once

#include <string>

#include <mapi/mapi.h>

namespace mapi_flow
{
// On one line.  For an unknown function: a number if the size fits, otherwise its bytes.
std::string result_text(const std::string &function, const mapi_results_t &results);
std::string packet_text(const mapipkt &packet);
} // namespace mapi_flow
