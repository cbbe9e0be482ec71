// SPDX-License-Identifier: MIT
// cli: options for the kernel's records -> a recorder that includes them.
#include "cli/record/kernel_side.hpp"

#include <cerrno>
#include <cmath>
#include <cstdlib>

#include "cli/commands.hpp"
#include "cli/record/kernel_programs.hpp"
#include "cli/record/recorder.hpp"
#include "common/command/output.hpp"
#include "common/command/tell.hpp"
#include "decode/error.hpp"

namespace nsdump
{
namespace
{
constexpr uint32_t kLastPort = 65535;
constexpr const char *kNoGroup =
    "modules"; // NET_SLICE_* in kernel modules: recorded with any group

// auto, off, or a number from 0 to 1; otherwise the error message.
std::string is_share(const std::string &text)
{
    char *end = nullptr;
    const double share = std::strtod(text.c_str(), &end);
    const bool is_number = end != text.c_str() && *end == 0 && share >= 0 && share <= 1;
    return is_number || text == "auto" || text == "off"
               ? ""
               : "\"" + text + "\" is not auto, off or a share from 0 to 1";
}
} // namespace

std::vector<command::Argument> add_kernel_options(command::ArgumentSet &arguments,
                                                  KernelOptions &options)
{
    const command::Argument counters =
        arguments
            .add("--kernel-counters", options.counters,
                 "per-CPU counters for kernel slices, e.g. instructions (default: clock only)")
            .kind("LIST")
            .check(command::is_given);
    const command::Argument ring =
        arguments
            .add("--kernel-ring", options.ring_bytes,
                 "size of the kernel's ring per CPU, a power of two from 4K to 8G")
            .powers_of_two(kLeastRingBytes, kMostRingBytes)
            .show_default();
    const command::Argument port =
        arguments
            .add("--port", options.port,
                 "at places that see packets, only those from or to this TCP, UDP, SCTP or DCCP "
                 "port")
            .range(uint64_t{1}, kLastPort);
    const command::Argument recorder =
        arguments
            .add("--kernel-recorder", options.recorder,
                 "nsmod: the module; bpf: programs on its tracepoints; auto: nsmod if it is loaded")
            .one_of({"auto", "nsmod", "bpf"})
            .show_default();
    return {counters, ring, port, recorder};
}

command::Argument add_slices(command::ArgumentSet &arguments, std::string &slices)
{
    return arguments
        .add("--slices", slices,
             "slices and marks to record, e.g. 'filter*,!publish' (default: all)")
        .kind("PATTERNS")
        .check(command::is_given);
}

command::Argument add_thin(command::ArgumentSet &arguments, KernelOptions &options)
{
    return arguments
        .add("--thin", options.thin,
             "share of the time in which some probes inside slices are off at random, to "
             "measure what they cost there; auto: 0.5")
        .kind("auto|off|SHARE")
        .check(is_share)
        .show_default();
}

uint32_t thin_permille(const KernelOptions &options)
{
    if (options.thin == "off")
        return 0;
    return options.thin == "auto"
               ? NSP_THIN_AUTO_PERMILLE
               : uint32_t(std::lround(std::strtod(options.thin.c_str(), nullptr) * 1000));
}

KernelSide::KernelSide() = default;
KernelSide::~KernelSide() = default;

void KernelSide::begin(nsp_recorder *recorder, const KernelOptions &options)
{
    if (!options.is_any())
        return;
    nsp_kernel_config config{};
    config.struct_size = sizeof config;
    config.groups = options.groups == kNoGroup ? "" : options.groups.c_str();
    config.counters = options.counters.c_str();
    config.ring_bytes = options.ring_bytes;
    config.pid = options.pid;
    config.port = options.port;
    config.slices = options.slices.c_str();
    programs_ = start_programs(options, config.groups);
    config.source = programs_ ? &programs_->source() : nullptr;
    config.reason = options.recorder == "nsmod" ? "requested" : "the kernel module nsmod is loaded";
    const int error = nsp_recorder_add_kernel(recorder, &config);
    if (error == -EINVAL)
        throw command::UsageError(nsp_last_error());
    if (error != 0)
        throw TraceError(nsp_last_error());
}

nsp_session_counts KernelSide::end(nsp_recorder *recorder)
{
    nsp_session_counts counts{};
    if (nsp_recorder_end_kernel(recorder, &counts) != 0)
        command::tell("nsdump: warning: {}\n", nsp_last_error());
    tell_losses(counts, "kernel ", "--kernel-ring");
    return counts;
}
} // namespace nsdump
