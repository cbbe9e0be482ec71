// SPDX-License-Identifier: MIT
// Config keys: keys before the first section of mapi.conf, and those of [format] and [dag].
#pragma once

#include <string>
#include <vector>

#include "engine/config/config_lines.hpp"

namespace mapi::engine
{
// True only for these sections; the keys of other sections belong to drivers and functions.
bool has_known_keys(const std::string &section);
// Notes invalid values, unknown keys and keys without effect here.
void check_keys(const ConfigSection &section, ConfigNotes &notes);

// "; did you mean ...?", or the list of all available names.
std::string suggest(const std::string &wrong, const std::vector<std::string> &known);
} // namespace mapi::engine
