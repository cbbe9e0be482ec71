// SPDX-License-Identifier: MIT
#include "captures/source_arguments.hpp"

#include "common/command/numbers.hpp"

namespace captures_source
{
void add_source(command::ArgumentSet &arguments, SourceOptions &options)
{
    arguments
        .add("-r,--read", options.captures,
             "capture (pcap or pcapng, may be compressed), folder of captures, or - for standard "
             "input; may be repeated")
        .kind("FILE")
        .one_each_time()
        .check(command::is_given);
    arguments
        .add("-i,--interface", options.device, "network interface or device of mapi.conf to read")
        .kind("IFACE")
        .check(command::is_given);
    arguments.add_flag("--erf", options.is_erf, "the capture is an ERF file of a DAG card");
}

void add_count_and_wait(command::ArgumentSet &arguments, SourceOptions &options)
{
    arguments.add("-c,--count", options.packets, "stop after that many packets")
        .kind("COUNT")
        .range(uint64_t{1}, uint64_t{INT64_MAX});
    arguments.add_flag("--wait", options.waits, "wait for an interface that does not exist yet");
}

command::Argument add_duration(command::ArgumentSet &arguments, double &seconds)
{
    return arguments
        .add("-d,--duration", seconds, "how long to read an interface (default: until Ctrl-C)")
        .kind("SECONDS")
        .check(command::check_duration);
}

const char *find_wrong(const SourceOptions &options, bool has_duration)
{
    const bool has_captures = !options.captures.empty();
    if (options.is_device() && has_captures)
        return "-r cannot be combined with -i";
    if (!options.is_device() && !has_captures)
        return "a source is required: -r FILE or -i IFACE";
    if (!options.is_device() && options.waits)
        return "--wait requires -i";
    if (!options.is_device() && has_duration)
        return "-d requires -i";
    if (options.is_device() && options.is_erf)
        return "--erf cannot be combined with -i";
    return nullptr;
}
} // namespace captures_source
