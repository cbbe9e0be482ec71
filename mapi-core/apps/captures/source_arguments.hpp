// SPDX-License-Identifier: MIT
// Source arguments: the options of a command line that choose what is read -> SourceOptions.
#pragma once

#include "captures/source.hpp"
#include "common/command/arguments.hpp"

namespace captures_source
{
// -r, -i and --erf.
void add_source(command::ArgumentSet &arguments, SourceOptions &options);
// -c and --wait.
void add_count_and_wait(command::ArgumentSet &arguments, SourceOptions &options);
// -d, for a device.
command::Argument add_duration(command::ArgumentSet &arguments, double &seconds);

// What these options request together that is impossible; null: nothing.
const char *find_wrong(const SourceOptions &options, bool has_duration);
} // namespace captures_source
