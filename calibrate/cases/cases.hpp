// SPDX-License-Identifier: MIT
// cases: the list of measurements; each case adds one pass to the results.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>

#include "affinity.hpp"
#include "measure.hpp"
#include "results.hpp"

namespace calibrate
{
// Measurement is impossible; the message has the reason and remedy.
class CannotMeasure : public std::runtime_error
{
public:
    using std::runtime_error::runtime_error;
};

struct Pass {
    unsigned number = 0;             // from 0
    uint32_t batches = 0;            // for each figure
    bool does_stepping = true;       // slow but exact, so a few passes are enough
    std::string counters;            // names for the sessions with counters
    bool must_have_counters = false; // given by the user: an error if no source has them
    Affinity *affinity = nullptr;
    bool does_paper = false; // also measure what only the paper's tables need
};

struct Case {
    const char *name;
    void (*run)(const Pass &pass, Results &results);
    bool is_for_paper = false;
};

void run_clock_case(const Pass &pass, Results &results);
void run_instruction_case(const Pass &pass, Results &results);
void run_kernel_case(const Pass &pass, Results &results);
void run_probe_case(const Pass &pass, Results &results);
void run_counter_case(const Pass &pass, Results &results);
void run_off_case(const Pass &pass, Results &results);
void run_ring_case(const Pass &pass, Results &results);

inline constexpr Case kCases[] = {
    {"clock reads", run_clock_case},
    {"instructions", run_instruction_case, true},
    {"the kernel's own", run_kernel_case, true},
    {"probes", run_probe_case},
    {"probes with counters", run_counter_case},
    {"probes without a session", run_off_case},
    {"rings", run_ring_case},
};

// One way to read a clock; `lacks` is the reason why it is unavailable, or null.
struct ClockVariant {
    const char *name;
    Loop loop;
    const char *lacks;
};

// All ways on this architecture; the first is the bare read of the probes' clock.
std::span<const ClockVariant> clock_variants();
void empty_loop(uint32_t rounds);

// One instruction of the paper's Table 1, or its counterpart on this architecture.
struct InstructionVariant {
    const char *name;
    Loop loop;              // null: measured as the clock read of that name, or not at all
    std::string (*begin)(); // prepares it or returns why it cannot run; null: always runs
    void (*end)();          // undoes begin(); null: nothing to undo
    std::optional<double> ns_2001;
    const char *note;       // null: none
    const char *note_in_vm; // used instead in a virtual machine; null: the same
};

std::span<const InstructionVariant> instruction_variants();
// begin() of privileged instructions.
std::string needs_nsmod();

struct KernelCosts;
void add_kernel_costs(const KernelCosts &all, Results &results);

// Ordered with respect to the code before and after it.
uint64_t read_ticks();
} // namespace calibrate
