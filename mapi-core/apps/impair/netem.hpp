// SPDX-License-Identifier: MIT
// netem: options -> a bridge between the interfaces, which the kernel's netem impairs.
#pragma once

#include <string>
#include <vector>

#include "options.hpp"

namespace impair
{
using Command = std::vector<std::string>;

// What sets it up and what removes it, in order.
struct NetemCommands {
    std::vector<Command> begin, end;
};
NetemCommands netem_commands(const Options &options, const std::string &bridge);

// Until Ctrl-C or the duration.  Returns an exit code; throws mapi_gen::Refusal.
int run_netem(const Options &options);
} // namespace impair
