// SPDX-License-Identifier: MIT
// paper: results -> the rows of the NetSlice paper's tables, with the figures of 2001.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cases/cases.hpp"

namespace calibrate
{
inline constexpr const char *kPaperSource = "Liu Hai-peng, Zhang Gen-du: NetSlice: A Tool for "
                                            "Automated Analysis of Network Software Latency, 2001";

// Table 1.
struct InstructionLine {
    std::string name;
    std::optional<double> ns_2001;
    std::optional<Estimate> ticks;
    std::string note; // the reason if there is no figure
};

// Table 2: the probes, then the pair; the order is the same everywhere.
struct Macro {
    const char *acronym; // the paper's
    const char *name;
    const char *row; // ProbeRow::macro
    Series ProbeRow::*ticks;
    Series CounterCost::*counted;
    double ns_2001;
};
inline constexpr size_t kMacroCount = 6;
extern const std::array<Macro, kMacroCount> kMacros;

struct MacroLine {
    const Macro *macro;
    std::optional<Estimate> fast;
    std::optional<Estimate> ordered;
};

// The same in the kernel, measured by nsmod in its only clock mode.
struct KernelMacroLine {
    const Macro *macro;
    std::optional<Estimate> recorded;
    std::optional<Estimate> idle; // without a recorder
};

// Figure 4: the amount that each macro adds to one counter.
struct EventLine {
    std::string counter;
    std::string source;
    std::string mode;
    std::array<std::optional<Estimate>, kMacroCount> counts;
};

// A number given in the paper's text; the rest of its Figure 4 is a picture.
struct Event2001 {
    const char *counter; // our name
    const char *event;   // its number on the P6
    const char *acronym; // of the macro
    double count;
};
inline constexpr Event2001 kEvent2001 = {"instructions", "C0H", "NSE", 77};

struct Paper {
    std::string ring; // the ring kind of the figures
    std::vector<InstructionLine> instructions;
    std::vector<MacroLine> macros;
    std::vector<InstructionLine> kernel_instructions; // of Table 1, those measured by nsmod
    std::vector<KernelMacroLine> kernel_macros;       // empty if it measured none
    std::string why_no_kernel;                        // reason if any of these is missing
    std::vector<EventLine> events;
    std::string why_no_events; // empty if there are any
};

Paper paper_of(const Results &results, std::span<const InstructionVariant> variants,
               bool is_virtual);
} // namespace calibrate
