// SPDX-License-Identifier: MIT
// results: estimates of all passes, by name of the measured item.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "measure.hpp"

namespace calibrate
{
// The estimates of one figure, one per pass.
class Series
{
public:
    void add(const Estimate &pass) { passes_.push_back(pass); }
    Estimate total() const { return combine(passes_); }
    const std::vector<Estimate> &passes() const { return passes_; }

private:
    std::vector<Estimate> passes_;
};

struct ClockReadRow {
    std::string name;
    Series ticks;
};

struct InstructionRow {
    std::string name;
    Series ticks;
};

// Settings of a session, with the names used in the INFO of its trace.
struct Setting {
    std::string mode = "fast";     // clock.mode
    std::string ring = "rseq";     // ring.kind
    std::string counters = "none"; // counters.source
    bool operator==(const Setting &) const = default;
};

struct CounterCost {
    std::string name;
    Series inner;
    Series outer;
};

struct ProbeRow {
    std::string macro; // START+STOP, MARK, INIT, EXIT; among the halves START, STOP
    Setting setting;
    Series inner;       // probe cost included in a slice, in ticks; START+STOP only
    Series outer;       // ticks that the probe, or the pair, adds to the enclosing code
    Series inner_alone; // the same without work that the probe could overlap with
    Series outer_alone;
    Series inner_overtaking; // of a pair whose STOP overtakes as much work as it can, START none
    Series outer_overtaking;
    std::vector<CounterCost> counter_costs;
};

struct RingRow {
    std::string name; // off, room, full, overwrite
    Setting setting;
    Series ticks; // for one record
    uint64_t issued = 0;
    uint64_t drained = 0;
    uint64_t lost = 0;
    unsigned dropped_passes = 0;
    bool has_loss_equation = true;
};

struct Unavailable {
    std::string what;
    std::string reason;
};

// Unavailable figures of the kernel: a single one as "in the kernel: NAME", or all of them.
inline constexpr const char *kInKernel = "in the kernel: ";
inline constexpr const char *kKernel = "in the kernel";

struct Results {
    std::vector<ClockReadRow>
        clock_reads; // the first is the bare read, to which all others are compared
    std::vector<ProbeRow> probes;
    std::vector<ProbeRow> halves;             // of the pair; for the paper's tables only
    std::vector<InstructionRow> instructions; // for the paper's tables only
    std::vector<InstructionRow>
        kernel_costs; // of nsmod: instructions, macros, "idle MACRO"; for the paper's tables only
    std::vector<RingRow> rings;
    std::vector<Unavailable> unavailable;
    double step_ticks = 0;

    // Finds the row by name or adds it.
    Series &clock_read(const std::string &name);
    ProbeRow &probe(const std::string &macro, const Setting &setting);
    ProbeRow &half(const std::string &macro, const Setting &setting);
    Series &instruction(const std::string &name);
    Series &kernel_cost(const std::string &name);
    RingRow &ring(const std::string &name, const Setting &setting);
    void lacks(const std::string &what, const std::string &reason); // kept once per `what`
    std::string why_lacking(const std::string &what) const;         // empty: not unavailable
    std::string why_no_counters() const; // each source with its reason; empty: none unavailable
};
} // namespace calibrate
