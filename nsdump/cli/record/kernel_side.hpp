// SPDX-License-Identifier: MIT
// cli: options for the kernel's records -> a recorder that includes them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <nsprobe/recorder.h>

#include "common/command/arguments.hpp"

namespace nsdump
{
// Ring sizes that libnsprobe and the kernel module accept.
constexpr uint64_t kLeastRingBytes = 4 << 10;
constexpr uint64_t kMostRingBytes = uint64_t{8} << 30;

struct KernelOptions {
    std::string groups; // empty: the kernel is not recorded
    std::string counters;
    std::string slices; // rules for the kernel's slices and marks; empty: all
    uint64_t ring_bytes = 1u << 20;
    uint32_t port = 0;
    uint32_t pid = 0;
};

// --kernel-counters, --kernel-ring, --port; each command selects groups and process in its own way.
std::vector<command::Argument> add_kernel_options(command::ArgumentSet &arguments,
                                                  KernelOptions &options);

// --slices, for the kernel's and, if there is one, the program's.
command::Argument add_slices(command::ArgumentSet &arguments, std::string &slices);

// Throws UsageError or TraceError.
void add_kernel(nsp_recorder *recorder, const KernelOptions &options);

// Ends the recording and reports what was lost.  Returns the kernel's counts.
nsp_session_counts end_kernel(nsp_recorder *recorder);
} // namespace nsdump
