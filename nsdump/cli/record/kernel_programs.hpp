// SPDX-License-Identifier: MIT
// cli: records of the kernel by BPF, where the module nsmod is not loaded.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include <nsprobe/recorder.h>

#include "cli/record/kernel_side.hpp"

namespace nsdump
{
// Programs that record until it is destroyed.
class KernelPrograms
{
public:
    virtual ~KernelPrograms() = default;
    // Valid as long as this object.
    virtual const nsp_kernel_source &source() const = 0;
};

// Whether the group of probes in BPF programs is among these.
bool has_programs_group(std::string_view groups);
// Null if nsmod records.  groups: without "modules".  Throws UsageError or TraceError.
std::unique_ptr<KernelPrograms> start_programs(const KernelOptions &options,
                                               const std::string &groups);
// The groups of the recorder that would record, as nsp_nsmod_groups() writes them.  Throws
// TraceError.
std::string kernel_groups_text();
} // namespace nsdump
