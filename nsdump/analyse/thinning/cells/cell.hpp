// SPDX-License-Identifier: MIT
// analyse: slices of one name while the same names were off -> sums, from which means with errors
// are estimated.
#pragma once

#include <cstdint>
#include <vector>

#include "analyse/report.hpp"
#include "analyse/statistics/histogram.hpp"
#include "analyse/thinning/cells/clipped_sums.hpp"
#include "analyse/thinning/cells/inside_sums.hpp"

namespace nsdump
{
// A slice from START to STOP, with what lies inside.
struct ThinnedSlice {
    double raw = 0;
    uint32_t epoch = 0;
    uint32_t cpu_index = 0;
    uint32_t inits = 0;
    uint32_t exits = 0;
    std::vector<InsideCount> inside;
};

// Slices on one CPU, which has its own constants.
struct CpuSum {
    uint32_t cpu_index = 0;
    uint64_t slices = 0;
    uint64_t inits = 0;
    uint64_t exits = 0;
};

// Assigning {} would keep the memory.
template <class T> void release(std::vector<T> &values)
{
    std::vector<T>().swap(values);
}

// CPUs are few: they are searched one by one.
CpuSum &sum_of_cpu(std::vector<CpuSum> &sums, uint32_t cpu_index);

// Share of the slices that the midmean leaves out at either end.
inline constexpr double kMidmeanShare = 0.25;

// Two means: the trimmed one, and the midmean, which is for long slices around others: disturbances
// hit too many of them for the trimmed mean to leave these out.  Values are clipped to the bounds
// of either part as far as they are known by then: they are found again each time that the number
// of slices has doubled.
class Cell
{
public:
    // Kept until there are bounds: whole slices, and values.  Bounds of few epochs would clip the
    // differences between epochs.  Both are powers of two.
    static constexpr uint64_t kFirstSlices = 64, kFirstValues = 4096;

    // `reference`: a typical raw value, common to all cells of a name, so that sums stay exact.
    // `step` of the clock.
    Cell(double reference, double step) : reference_(reference), step_(step) {}

    // `only`: of the records inside, only those of these names are counted; null: all.
    void add(const ThinnedSlice &slice, const InsideSums *only = nullptr);
    // Call after the last slice.
    void finish();
    // Adds a finished cell of the same name; no epoch may be in both.
    void merge(const Cell &other);

    uint64_t count() const { return count_; }
    double mean() const { return count_ > 0 ? reference_ + sum_ / double(count_) : 0; }
    double variance() const;
    // Of the trimmed mean and of the midmean.
    const ClippedSums &trimmed() const { return trimmed_; }
    const ClippedSums &middle() const { return middle_; }
    const std::vector<Bucket> &buckets() const { return buckets_; }
    // Slices that are not trimmed; their records are `kept` in the sums inside.
    uint64_t kept() const { return kept_; }
    const InsideSums &inside() const { return inside_; }
    const std::vector<CpuSum> &cpus() const { return cpus_; }
    void drop_buckets() { release(buckets_); }
    void drop_middle_clusters() { middle_.drop_clusters(); }
    void drop_clusters()
    {
        trimmed_.drop_clusters();
        middle_.drop_clusters();
    }

private:
    // Slices among the first with something inside, and their records of one name.
    struct Early {
        uint32_t place; // in first_values_
        NameId name;
        uint64_t records;
    };
    struct Value {
        double raw;
        uint32_t epoch;
    };

    void find_bounds();
    void fill_histogram();
    void count_first();
    void add_first();
    void count_inside(const ThinnedSlice &slice, const InsideSums *only);
    void merge_buckets(const std::vector<Bucket> &others);
    void add_clipped(double raw, uint32_t epoch);

    double reference_;
    double step_;
    uint64_t count_ = 0;
    double sum_ = 0, squares_ = 0; // of distances from the reference
    ClippedSums trimmed_{kTrimmedShare}, middle_{kMidmeanShare};
    uint64_t kept_ = 0;
    Histogram histogram_;         // without the first slices while there are fewer
    std::vector<Bucket> buckets_; // after finish()
    InsideSums inside_;
    std::vector<CpuSum> cpus_;
    std::vector<Early> first_;
    std::vector<Value> first_values_;
};
} // namespace nsdump
