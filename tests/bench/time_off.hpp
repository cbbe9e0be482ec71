// SPDX-License-Identifier: MIT
// Code with probes that are all off -> how long it takes beside the same code without probes: a
// cost that thinning cannot see.
#pragma once

#include <string>
#include <vector>

#include "time_verdict.hpp"

namespace bench
{
// Outside of sessions.  Prints the number of cells whose time differs by no more than `allowed`,
// and a table of all.
void print_off(const std::string &name, const Tolerance &allowed,
               const std::vector<Length> &lengths);
} // namespace bench
