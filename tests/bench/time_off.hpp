// SPDX-License-Identifier: MIT
// Code with probes that are all off -> how long it takes beside the same code without probes: what
// no estimate made with these probes can fall below.
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
