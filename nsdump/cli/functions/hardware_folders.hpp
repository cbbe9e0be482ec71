// SPDX-License-Identifier: MIT
// cli: this processor -> folders with shared objects for it.
#pragma once

#include <string>
#include <vector>

namespace nsdump
{
// Below each folder of its search path, the dynamic loader looks into these first; the best one
// comes first.
std::vector<std::string> hardware_folders();
} // namespace nsdump
