// SPDX-License-Identifier: MIT
// live: a watched core -> one line a second.
#pragma once

#include <string>

#include "common/command/output.hpp"
#include "report/environment.hpp"
#include "surroundings/core_watch.hpp"

namespace calibrate
{
std::string live_head(const Environment &environment);
std::string live_line(unsigned second, const Surroundings &what);
std::string live_json(unsigned second, unsigned cpu, const Surroundings &what);

// Writes each line when its second is over, until Ctrl-C or for `seconds` (0: until Ctrl-C).  The
// thread must be bound to the environment's CPU.
void show_live(const Environment &environment, unsigned seconds, bool is_json,
               command::Output &output);
} // namespace calibrate
