// SPDX-License-Identifier: MIT
// run: options, packets, an interface -> a sending thread for each CPU, until the end.
#pragma once

#include "options.hpp"
#include "report.hpp"

namespace mapi_gen
{
// Throws Refusal before anything is sent.  is_gone: the interface disappeared meanwhile.
Outcome run(const Options &options, const Packets &packets, const Interface &interface,
            bool &is_gone);
} // namespace mapi_gen
