// SPDX-License-Identifier: MIT
// record: a duration -> the trace of mapid's probes in it.
#pragma once

#include "mapid.hpp"
#include "options.hpp"

namespace mapi_info
{
// Returns the exit code.  Throws mapi::Error and command::OutputError.
int record(Mapid &mapid, const Options &options);
} // namespace mapi_info
