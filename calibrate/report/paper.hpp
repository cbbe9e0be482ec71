// SPDX-License-Identifier: MIT
// paper: results -> the rows of the NetSlice paper's tables, its own figures of 2001 beside those of this machine.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cases/cases.hpp"

namespace calibrate
{
inline constexpr const char *kPaperSource =
    "Liu Hai-peng, Zhang Gen-du: NetSlice: A Tool for Automated Analysis of Network Software Latency, 2001";

// Table 1.
struct InstructionLine {
    std::string name;
    std::optional<double> ns_2001;
    std::optional<Estimate> ticks;
    std::string note; // why there is no figure, where there is none
};

// Table 2: the probes, then the pair; in this order everywhere.
struct Macro {
    const char *acronym; // the paper's
    const char *name;
    const char *row; // ProbeRow::macro
    Series ProbeRow::*ticks;
    Series CounterCost::*counted;
    double ns_2001;
};
inline constexpr std::size_t kMacroCount = 6;
extern const std::array<Macro, kMacroCount> kMacros;

struct MacroLine {
    const Macro *macro;
    std::optional<Estimate> fast;
    std::optional<Estimate> ordered;
};

// The same in the kernel, by nsmod, which has one clock mode.
struct KernelMacroLine {
    const Macro *macro;
    std::optional<Estimate> recorded;
    std::optional<Estimate> idle; // while nobody records
};

// Figure 4: one counter, what each macro adds to it.
struct EventLine {
    std::string counter;
    std::string source;
    std::string mode;
    std::array<std::optional<Estimate>, kMacroCount> counts;
};

// What the paper's text gives in figures; the rest of its Figure 4 is a picture.
struct Event2001 {
    const char *counter; // our name
    const char *event;   // its number on the P6
    const char *acronym; // of the macro
    double count;
};
inline constexpr Event2001 kEvent2001 = {"instructions", "C0H", "NSE", 77};

struct Paper {
    std::string ring; // the kind that the figures are of
    std::vector<InstructionLine> instructions;
    std::vector<MacroLine> macros;
    std::vector<InstructionLine> kernel_instructions; // of Table 1, as far as nsmod measured them
    std::vector<KernelMacroLine> kernel_macros;       // empty where it measured none
    std::string why_no_kernel;                        // why something of these is missing
    std::vector<EventLine> events;
    std::string why_no_events; // empty where there are some
};

Paper paper_of(const Results &results, std::span<const InstructionVariant> variants, bool is_virtual);
} // namespace calibrate
