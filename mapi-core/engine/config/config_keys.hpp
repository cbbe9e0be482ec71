// SPDX-License-Identifier: MIT
// Config keys: what may stand before the first section of mapi.conf, and in sections that nobody here has a use for.
#pragma once

#include <string>
#include <vector>

#include "engine/config/config_lines.hpp"

namespace mapi::engine
{
// Of those sections alone; others have owners, who know their keys.
bool has_known_keys(const std::string &section);
// Values that are wrong, keys that nobody knows, those that have no effect here.
void check_keys(const ConfigSection &section, ConfigNotes &notes);

// "; did you mean ...?", or all that would do.
std::string suggest(const std::string &wrong, const std::vector<std::string> &known);
} // namespace mapi::engine
