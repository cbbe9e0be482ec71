// SPDX-License-Identifier: MIT
// cli: a program -> the files of the shared objects that the dynamic loader would load with it.
#pragma once

#include <string>
#include <vector>

namespace nsdump
{
// Found by reading only: a loader that the file names, or auditors in it, could do anything.
// Without those that are not found or cannot be loaded with the program.
std::vector<std::string> needed_objects(const std::string &program);
} // namespace nsdump
