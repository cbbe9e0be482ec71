// SPDX-License-Identifier: MIT
// cli: --function -> which functions of a program become slices, and by which way.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <sys/types.h>

namespace nsdump
{
struct FunctionOptions {
    std::vector<std::string> patterns; // is_function_pattern(); empty: no functions
    std::string by = "auto";           // sleds, uprobes
};

// One that is recorded by uprobes.
struct TracedFunction {
    std::string path; // of its ELF file, as this process can open it
    uint64_t offset = 0;
    std::string name;
    std::string file; // for users
    uint8_t way = 0;  // NSLICE_WAY_UPROBE_*
};

struct FunctionPlan {
    bool is_by_sleds = false;
    std::string reason;                 // of the choice
    std::vector<TracedFunction> traced; // by uprobes
    // Way sleds: the program's environment.
    std::string library; // for LD_PRELOAD
    std::string regex;   // for NETSLICE_FUNCTIONS

    bool is_by_uprobes() const { return !traced.empty(); }
};

// `pid` 0: a program that is started.  Reports the choice.  Throws UsageError or TraceError.
FunctionPlan plan_functions(const FunctionOptions &options, const std::string &program, pid_t pid,
                            bool is_quiet);
// In the child, before it executes the program.
void prepare_for_sleds(const FunctionPlan &plan);
} // namespace nsdump
