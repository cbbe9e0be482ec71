// SPDX-License-Identifier: MIT
// analyse: what random thinning shows about a slice and about the whole trace; parts of the report.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nsdump
{
// A value with the half width of its 95 % interval.
struct Measured {
    double value = 0;
    double ci95 = 0;
};

// Whether two values of the same thing differ by more than their intervals explain.
inline bool contradict(const Measured &a, const Measured &b)
{
    return std::fabs(a.value - b.value) > std::hypot(a.ci95, b.ci95);
}

// What the records of some names inside a slice add to it.  More than one name if they were never
// switched separately.
struct ThinnedCost {
    std::string name; // names, joined by " + "
    std::string kind; // "pair", "mark", or "mixed"
    double per_slice = 0;
    // None if it cannot be separated from others.  It does not follow from the cells' trimmed means
    // alone where midmeans are used.
    std::optional<Measured> per_record;
    Measured calibrated; // the same by calibration
};

// Slices while the same names inside them were off.
struct ThinnedCell {
    std::vector<std::string> off;
    uint64_t slices = 0;
    uint64_t epochs = 0;
    double mean = 0;
    Measured trimmed_mean; // raw
};

enum class NetSource { kCalibration, kThinning, kBoth };

struct SliceThinning {
    std::optional<Measured> net;        // by thinning
    std::optional<Measured> calibrated; // trimmed mean with calibrated constants
    std::optional<Measured> combined;   // of the two, as used
    NetSource used = NetSource::kCalibration;
    bool is_contradiction = false;
    std::string reason;  // why there is no `net`
    uint64_t epochs = 0; // that `net` is based on
    uint64_t slices = 0;
    Measured raw;                // trimmed mean with everything inside off
    double inits = 0, exits = 0; // inside; never off
    Measured inner;              // the slice's own reads
    NetSource inner_from = NetSource::kCalibration;
    double context_weight = 0; // of thinning in `inner`
    std::vector<ThinnedCost> costs;
    std::vector<ThinnedCell> cells;
    double shared_bound = 0; // part of both half widths, since both use the same own reads
    // Reads overtake more work than work hides of a pair: both half widths have that bound, and
    // both values may be wrong by as much.
    bool is_overtaking = false;
    double shift = 0; // of net values in the report
};

// Slices and epochs by what became of them.
enum class LeftOut {
    kOutside,    // START and STOP lie outside of all epochs
    kStraddling, // no epoch covers it
    kNotNested,
    kMigrated,
    kLoss,
    kKernel,  // the kernel's records interrupt it
    kStepped, // single-stepped: its time is meaningless
    kOff,     // it or something inside was off, but has records
    kThread,  // of a thread that is not trusted
    kTooMany, // different names inside
    kCount,
};

inline const char *left_out_name(LeftOut why)
{
    constexpr const char *kNames[] = {"outside", "straddling",    "not_nested", "migrated",
                                      "loss",    "kernel",        "stepped",    "off",
                                      "thread",  "too_many_names"};
    return kNames[size_t(why)];
}

using LeftOutCounts = std::array<uint64_t, size_t(LeftOut::kCount)>;

// Units of one name: with all probes on, and with as many off as ever.
struct ThinnedUnits {
    std::string name;
    Measured per_second_on, per_second_off;
    Measured ticks_on, ticks_off; // of one unit
    Measured cost;                // ticks_on / ticks_off - 1
    uint64_t epochs_on = 0, epochs_off = 0;
};

struct ThinningReport {
    uint64_t epochs = 0;
    std::string reason;  // why nothing was estimated; empty if something was
    uint64_t slices = 0; // that were used
    LeftOutCounts left_out{};
    uint64_t distrusted_threads = 0;
    // Of slices with counters: with all probes known to be on, and others, which do not count.
    uint64_t all_on = 0, not_all_on = 0;
    std::vector<ThinnedUnits> units;
};
} // namespace nsdump
