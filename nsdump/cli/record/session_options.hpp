// SPDX-License-Identifier: MIT
// cli: options of commands that open a session: its counters, clock and rings.
#pragma once

#include <functional>
#include <initializer_list>
#include <string>
#include <utility>

#include <nsprobe/session.h>

namespace command
{
class ArgumentSet;
} // namespace command

namespace nsdump
{
struct SessionOptions {
    std::string counters;
    std::string source = "auto";
    uint32_t step_every = 1;
    std::string clock = "fast";
    uint64_t ring_bytes = 4u << 20;
};

template <class Enum>
Enum choose(const std::string &word, std::initializer_list<std::pair<const char *, Enum>> choices)
{
    for (const auto &[name, value] : choices)
        if (word == name)
            return value;
    return Enum{};
}

using Check = std::function<void()>; // throws WrongUse for arguments that would have no effect

// The options must live as long as the arguments.
Check add_counter_options(command::ArgumentSet &arguments, SessionOptions &options);
void add_clock_option(command::ArgumentSet &arguments, SessionOptions &options);
void add_ring_option(command::ArgumentSet &arguments, SessionOptions &options);

// Refers to the options' texts.
nsp_session_config config_of(const SessionOptions &options);
} // namespace nsdump
