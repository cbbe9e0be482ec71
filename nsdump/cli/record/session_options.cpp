// SPDX-License-Identifier: MIT
// cli: options of commands that open a session: its counters, clock and rings.
#include "cli/record/session_options.hpp"

#include "cli/commands.hpp"
#include "cli/record/kernel_side.hpp"
#include "common/command/arguments.hpp"

namespace nsdump
{
Check add_counter_options(command::ArgumentSet &arguments, SessionOptions &options)
{
    arguments
        .add("--counters", options.counters,
             "counters, e.g. instructions,cycles; `nsdump counters` lists them (default: clock "
             "only)")
        .kind("LIST")
        .check(command::is_given);
    const command::Argument source =
        arguments.add("--source", options.source, "where counters come from")
            .one_of({"auto", "rdpmc", "perf-read", "papi", "step", "none"})
            .show_default();
    const command::Argument step_every =
        arguments.add("--step-every", options.step_every, "source step: count only every n-th unit")
            .check(is_positive)
            .show_default();
    return [&options, source, step_every] {
        if (options.counters.empty()) {
            if (options.source != "auto" && options.source != "none")
                command::refuse({source}, "requires --counters");
            command::refuse({step_every}, "requires --counters");
        } else if (options.source == "none") {
            throw command::WrongUse("--counters cannot be combined with --source none");
        }
        if (options.source != "auto" && options.source != "step")
            command::refuse({step_every}, "requires --source step");
    };
}

void add_clock_option(command::ArgumentSet &arguments, SessionOptions &options)
{
    arguments.add("--clock", options.clock, "ordered: fenced clock reads")
        .one_of({"fast", "ordered"})
        .show_default();
}

void add_ring_option(command::ArgumentSet &arguments, SessionOptions &options)
{
    arguments.add("--ring", options.ring_bytes, "ring size per CPU, a power of two from 4K to 8G")
        .powers_of_two(kLeastRingBytes, kMostRingBytes)
        .show_default();
}

nsp_session_config config_of(const SessionOptions &options)
{
    nsp_session_config config{};
    config.struct_size = sizeof(config);
    config.counters = options.counters.c_str();
    config.source = choose<nsp_counter_source>(options.source, {{"auto", NSP_SOURCE_AUTO},
                                                                {"rdpmc", NSP_SOURCE_RDPMC},
                                                                {"perf-read", NSP_SOURCE_PERF_READ},
                                                                {"papi", NSP_SOURCE_PAPI},
                                                                {"step", NSP_SOURCE_STEP},
                                                                {"none", NSP_SOURCE_NONE}});
    config.clock = choose<nsp_clock_mode>(options.clock, {{"ordered", NSP_CLOCK_ORDERED}});
    config.step_every = options.step_every;
    config.ring_bytes = options.ring_bytes;
    return config;
}
} // namespace nsdump
