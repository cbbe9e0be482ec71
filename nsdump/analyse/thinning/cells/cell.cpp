// SPDX-License-Identifier: MIT
// analyse: slices of one name while the same names were off -> sums.
#include "analyse/thinning/cells/cell.hpp"

#include <algorithm>
#include <iterator>

namespace nsdump
{
CpuSum &sum_of_cpu(std::vector<CpuSum> &sums, uint32_t cpu_index)
{
    for (CpuSum &sum : sums)
        if (sum.cpu_index == cpu_index)
            return sum;
    return sums.emplace_back(CpuSum{cpu_index});
}

double Cell::variance() const
{
    return variance_of(sum_, squares_, count_);
}

void Cell::find_bounds()
{
    const std::vector<Bucket> buckets = histogram_.buckets();
    trimmed_.find_bounds(buckets, step_);
    middle_.find_bounds(buckets, step_);
}

void Cell::add(const ThinnedSlice &slice, const InsideSums *only)
{
    const double distance = slice.raw - reference_;
    sum_ += distance;
    squares_ += distance * distance;
    CpuSum &cpu = sum_of_cpu(cpus_, slice.cpu_index);
    ++cpu.slices;
    cpu.inits += slice.inits;
    cpu.exits += slice.exits;
    if (++count_ <= kFirstValues)
        first_values_.push_back({slice.raw, slice.epoch});
    if (count_ > kFirstSlices)
        histogram_.add(slice.raw);
    else if (count_ == kFirstSlices)
        fill_histogram();
    const bool has_new_bounds = count_ >= kFirstSlices && (count_ & (count_ - 1)) == 0;
    if (has_new_bounds)
        find_bounds();
    count_inside(slice, only);
    if (count_ == kFirstSlices)
        count_first();
    if (count_ == kFirstValues)
        add_first();
    else if (count_ > kFirstValues)
        add_clipped(slice.raw, slice.epoch);
}

void Cell::fill_histogram()
{
    for (const Value &value : first_values_)
        histogram_.add(value.raw);
}

// Of the first slices, count_first() finds which are kept.
void Cell::count_inside(const ThinnedSlice &slice, const InsideSums *only)
{
    const bool is_early = count_ <= kFirstSlices,
               is_late_kept = !is_early && trimmed_.is_kept(slice.raw);
    kept_ += is_late_kept;
    for (const InsideCount &one : slice.inside) {
        if (only && !only->find(one.name))
            continue;
        InsideSum &sum = inside_.add(one);
        const uint64_t records = one.records();
        if (is_early)
            first_.push_back({uint32_t(count_ - 1), one.name, records});
        else if (is_late_kept)
            sum.kept += records;
    }
}

void Cell::count_first()
{
    const size_t count = std::min<size_t>(first_values_.size(), kFirstSlices);
    for (size_t i = 0; i < count; ++i)
        kept_ += trimmed_.is_kept(first_values_[i].raw);
    for (const Early &early : first_)
        if (trimmed_.is_kept(first_values_[early.place].raw))
            inside_.at(early.name).kept += early.records;
    release(first_);
}

void Cell::add_first()
{
    for (const Value &early : first_values_)
        add_clipped(early.raw, early.epoch);
    release(first_values_);
}

void Cell::add_clipped(double raw, uint32_t epoch)
{
    trimmed_.add(raw, reference_, epoch);
    middle_.add(raw, reference_, epoch);
}

void Cell::finish()
{
    if (count_ < kFirstSlices)
        fill_histogram();
    if (!first_values_.empty())
        find_bounds();
    if (count_ < kFirstSlices)
        count_first();
    add_first();
    buckets_ = histogram_.buckets();
    histogram_ = {};
}

// Both are in order of their lower ends; all cells have the same buckets.
void Cell::merge_buckets(const std::vector<Bucket> &others)
{
    std::vector<Bucket> all;
    all.reserve(buckets_.size() + others.size());
    std::merge(buckets_.begin(), buckets_.end(), others.begin(), others.end(),
               std::back_inserter(all),
               [](const Bucket &a, const Bucket &b) { return a.low < b.low; });
    buckets_.clear();
    for (const Bucket &bucket : all)
        if (!buckets_.empty() && buckets_.back().low == bucket.low) {
            buckets_.back().count += bucket.count;
            buckets_.back().sum += bucket.sum;
            buckets_.back().squares += bucket.squares;
        } else {
            buckets_.push_back(bucket);
        }
}

void Cell::merge(const Cell &other)
{
    count_ += other.count_;
    sum_ += other.sum_;
    squares_ += other.squares_;
    trimmed_.merge(other.trimmed_);
    middle_.merge(other.middle_);
    kept_ += other.kept_;
    merge_buckets(other.buckets_);
    inside_.merge(other.inside_);
    for (const CpuSum &sum : other.cpus_) {
        CpuSum &mine = sum_of_cpu(cpus_, sum.cpu_index);
        mine.slices += sum.slices;
        mine.inits += sum.inits;
        mine.exits += sum.exits;
    }
}
} // namespace nsdump
