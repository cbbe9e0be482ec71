// SPDX-License-Identifier: MIT
// mapi-gen: an interface, a rate, and a size or a capture -> packets on the interface.
#include <exception>

#include "common/command/output.hpp"
#include "common/command/signals.h"
#include "common/command/standard_files.h"
#include "common/command/tell.hpp"
#include "run.hpp"

namespace mapi_gen
{
namespace
{
int send(Options &options)
{
    const Interface interface = find_interface(options.interface);
    options.frame.from_mac = interface.mac;
    if (!interface.has_carrier && !options.is_quiet)
        command::tell("mapi-gen: {}: no carrier: nothing may be at the other end\n",
                      options.interface);
    const Packets packets = options.capture.empty() ? generate(options.frame, interface.mtu)
                                                    : read_capture(options.capture, interface.mtu);
    tell_capture(packets, options, interface.mtu);
    bool is_gone = false;
    const Outcome outcome = run(options, packets, interface, is_gone);
    command::write_whole("", last_line(outcome, options, packets));
    tell_missing(outcome, options);
    if (is_gone)
        command::tell("mapi-gen: {}: the interface has disappeared\n", options.interface);
    return is_gone ? kExitRefused : kExitDone;
}
} // namespace
} // namespace mapi_gen

int main(int argc, char **argv)
{
    using namespace mapi_gen;
    command_keep_standard_files();
    command_ignore_write_signals();
    Options options;
    try {
        if (const auto code = parse_options(argc, argv, options))
            return *code;
        command_catch_interrupts();
        return send(options);
    } catch (const std::exception &error) {
        command::tell("mapi-gen: {}\n", error.what());
        return kExitRefused;
    }
}
