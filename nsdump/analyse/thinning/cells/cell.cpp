// SPDX-License-Identifier: MIT
// analyse: slices of one name while the same names were off -> sums.
#include "analyse/thinning/cells/cell.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

#include "analyse/report.hpp"

namespace nsdump
{
namespace
{
double variance_of(double sum, double squares, uint64_t count)
{
    const double n = double(count);
    return count > 1 ? std::max(0.0, squares - sum * sum / n) / (n - 1) : 0;
}
} // namespace

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

double Cell::clipped_variance() const
{
    return variance_of(clipped_sum_, clipped_squares_, count_);
}

Cluster &Cell::cluster(uint32_t epoch)
{
    if (!clusters_.empty() && clusters_.back().epoch == epoch)
        return clusters_.back();
    // Threads are read in turns, so an earlier epoch may come back.
    const auto place =
        std::lower_bound(clusters_.begin(), clusters_.end(), epoch,
                         [](const Cluster &one, uint32_t at) { return one.epoch < at; });
    if (place != clusters_.end() && place->epoch == epoch)
        return *place;
    return *clusters_.insert(place, {epoch, 0, 0});
}

// The buckets at both ends belong to the trimmed part's neighbours as a whole: a constant duration
// has only one bucket.
void Cell::find_bounds()
{
    const std::vector<Bucket> buckets = histogram_.buckets();
    const double cut = kTrimmedShare * double(histogram_.total());
    double seen = 0;
    low_ = buckets.front().low;
    high_ = buckets.back().high;
    for (const Bucket &bucket : buckets) {
        if (seen <= cut)
            low_ = bucket.low;
        seen += double(bucket.count);
        if (seen >= double(histogram_.total()) - cut) {
            high_ = bucket.high;
            break;
        }
    }
    if (step_ >= kLeastStep) { // as in the trimmed mean
        low_ -= step_ + 1;
        high_ += step_ + 1;
    }
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
    const bool is_early = count_ <= kFirstSlices, is_late_kept = !is_early && is_kept(slice.raw);
    kept_ += is_late_kept;
    for (const InsideCount &one : slice.inside) {
        if (only && !only->find(one.name))
            continue;
        InsideSum &sum = inside_.add(one);
        const uint64_t records = uint64_t{one.pairs} + one.marks;
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
        kept_ += is_kept(first_values_[i].raw);
    for (const Early &early : first_)
        if (is_kept(first_values_[early.place].raw))
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
    const double clipped = std::clamp(raw, low_, high_) - reference_;
    clipped_sum_ += clipped;
    clipped_squares_ += clipped * clipped;
    Cluster &of_epoch = cluster(epoch);
    of_epoch.weight += 1;
    of_epoch.sum += clipped;
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
    clipped_sum_ += other.clipped_sum_;
    clipped_squares_ += other.clipped_squares_;
    kept_ += other.kept_;
    merge_buckets(other.buckets_);
    clusters_.insert(clusters_.end(), other.clusters_.begin(), other.clusters_.end());
    inside_.merge(other.inside_);
    for (const CpuSum &sum : other.cpus_) {
        CpuSum &mine = sum_of_cpu(cpus_, sum.cpu_index);
        mine.slices += sum.slices;
        mine.inits += sum.inits;
        mine.exits += sum.exits;
    }
}
} // namespace nsdump
