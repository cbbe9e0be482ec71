// SPDX-License-Identifier: MIT
// netem: options -> a bridge between the interfaces, which the kernel's netem impairs.
#include "support/catch.hpp"

#include <fmt/format.h>

#include "netem.hpp"

using namespace impair;

namespace
{
std::string text_of(const std::vector<Command> &commands)
{
    std::string text;
    for (const Command &command : commands)
        text += fmt::format("{}\n", fmt::join(command, " "));
    return text;
}

Options options_of(const Impairment &impairment)
{
    Options options;
    options.interfaces[kForward] = "in";
    options.interfaces[kBackward] = "out";
    options.impairment = impairment;
    return options;
}
} // namespace

TEST_CASE("forward packets are impaired where they leave", "[impair][netem]")
{
    Options options =
        options_of({.delay_ns = 50'000, .jitter_ns = 10'000, .loss = 0.1, .duplicate = 0.015});
    options.is_impaired[kBackward] = false;
    const NetemCommands commands = netem_commands(options, "bridge");
    CHECK(text_of(commands.begin) ==
          "ip link add name bridge type bridge\n"
          "ip link set dev out master bridge\n"
          "tc qdisc add dev out root netem delay 50.000us 10.000us loss 10.000000% duplicate "
          "1.500000% limit 100000\n"
          "ip link set dev in master bridge\n"
          "ip link set dev bridge up\n");
    CHECK(text_of(commands.end) == "tc qdisc del dev out root\n"
                                   "ip link del dev bridge\n");
}

TEST_CASE("what is removed is what was set up", "[impair][netem]")
{
    const NetemCommands commands = netem_commands(options_of({}), "bridge");
    CHECK(text_of(commands.end) == "tc qdisc del dev out root\n"
                                   "tc qdisc del dev in root\n"
                                   "ip link del dev bridge\n");
}
