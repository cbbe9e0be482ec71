// SPDX-License-Identifier: MIT
// cost: devices whose drivers run functions -> what these cost a packet, as lines of columns or
// JSON.
#pragma once

#include "mapid.hpp"
#include "options.hpp"

namespace mapi_info
{
// The exit code.
int show_cost(Mapid &mapid, const Options &options);
} // namespace mapi_info
