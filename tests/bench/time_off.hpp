// SPDX-License-Identifier: MIT
// Code with probes that are all off -> how long it takes beside the same code without probes: a
// cost that thinning cannot see.
#pragma once

#include <string>
#include <vector>

#include "time_verdict.hpp"

namespace bench
{
// Outside of sessions.  Prints two numbers of cells whose time differs from that of the code
// without probes by no more than `allowed`: NAME_off_within with probes that are off, and
// NAME_layout_within with empty asm statements in their places, which split the code in the same
// way; and a table of all.
void print_off(const std::string &name, const Tolerance &allowed,
               const std::vector<Length> &lengths);
} // namespace bench
