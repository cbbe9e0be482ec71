// SPDX-License-Identifier: MIT
// Session: options and rules -> flows on a source, alerts and tables until the end.
#pragma once

#include "sids/language/rule.hpp"
#include "sids/options.hpp"

namespace sids
{
// The exit code.  Throws what the parts throw; the table of the last look has been printed then, if
// there was one.
int run_session(const Options &options, std::vector<Rule> rules);
} // namespace sids
