// SPDX-License-Identifier: MIT
// result_text: a function's result -> words.
#pragma once

#include <string>

#include <mapi/mapi.h>

namespace mapi_flow
{
// In one line.  Of a function that is not known: its bytes, as a number where they are one.
std::string result_text(const std::string &function, const mapi_results_t &results);
std::string packet_text(const mapipkt &packet);
} // namespace mapi_flow
