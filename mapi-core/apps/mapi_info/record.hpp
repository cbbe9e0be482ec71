// SPDX-License-Identifier: MIT
// record: a time -> the trace of mapid's probes in it.
#pragma once

#include "mapid.hpp"
#include "options.hpp"

namespace mapi_info
{
// The exit code.  Throws mapi::Error and command::OutputError.
int record(Mapid &mapid, const Options &options);
} // namespace mapi_info
