// SPDX-License-Identifier: MIT
// cli: options for the kernel's records -> a recorder that includes them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <nsprobe/recorder.h>

#include "cli/functions/plan.hpp"
#include "common/command/arguments.hpp"

namespace nsdump
{
class KernelPrograms;

// Ring sizes that libnsprobe and the kernel module accept.
constexpr uint64_t kLeastRingBytes = 4 << 10;
constexpr uint64_t kMostRingBytes = uint64_t{8} << 30;

struct KernelOptions {
    std::string groups; // empty: the kernel is not recorded
    std::string counters;
    std::string slices;       // rules for the kernel's slices and marks; empty: all
    std::string thin = "off"; // of probes of BPF programs; auto, or a share from 0 to 1
    uint64_t ring_bytes = 1u << 20;
    uint32_t port = 0;
    uint32_t pid = 0;
    uint32_t thread = 0;           // by BPF only
    std::string recorder = "auto"; // nsmod, bpf
    bool starts_program = false;
    std::vector<TracedFunction> functions; // of the program, by uprobes
    std::string functions_reason;          // why by uprobes
    uint32_t functions_pid = 0;

    bool is_any() const { return !groups.empty() || !functions.empty(); }
};

// --kernel-counters, --kernel-recorder, --kernel-ring, --port; each command selects groups and
// process in its own way.
std::vector<command::Argument> add_kernel_options(command::ArgumentSet &arguments,
                                                  KernelOptions &options);

// --slices, for the kernel's and, if there is one, the program's.
command::Argument add_slices(command::ArgumentSet &arguments, std::string &slices);

// --thin, for probes of BPF programs and, if there is one, the program.
command::Argument add_thin(command::ArgumentSet &arguments, KernelOptions &options);
// Its share in parts of 1000; 0: no thinning.
uint32_t thin_permille(const KernelOptions &options);

// The kernel's part of a recording.  It must outlive the recorder.
class KernelSide
{
public:
    KernelSide();
    ~KernelSide();
    KernelSide(const KernelSide &) = delete;
    KernelSide &operator=(const KernelSide &) = delete;

    // Does nothing without groups and functions.  Throws UsageError or TraceError.
    void begin(nsp_recorder *recorder, const KernelOptions &options);
    // Ends the recording and reports what was lost.  Returns the kernel's counts.
    nsp_session_counts end(nsp_recorder *recorder);

private:
    std::unique_ptr<KernelPrograms> programs_; // null: nsmod records
};
} // namespace nsdump
