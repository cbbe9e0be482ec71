// SPDX-License-Identifier: MIT
// analyse: slices of one name while the same names were off -> sums.
#include "analyse/thinning/cell.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

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

InsideSum &sum_of(std::vector<InsideSum> &sums, NameId name)
{
    for (InsideSum &sum : sums)
        if (sum.name == name)
            return sum;
    return sums.emplace_back(InsideSum{name});
}

const InsideSum *find_sum(const std::vector<InsideSum> &sums, NameId name)
{
    for (const InsideSum &sum : sums)
        if (sum.name == name)
            return &sum;
    return nullptr;
}

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

void Cell::add(const ThinnedSlice &slice)
{
    histogram_.add(slice.raw);
    const double distance = slice.raw - reference_;
    sum_ += distance;
    squares_ += distance * distance;
    CpuSum &cpu = sum_of_cpu(cpus_, slice.cpu_index);
    ++cpu.slices;
    cpu.inits += slice.inits;
    cpu.exits += slice.exits;
    for (const InsideCount &one : slice.inside) {
        InsideSum &all = sum_of(inside_, one.name);
        all.pairs += one.pairs;
        all.marks += one.marks;
        all.direct += one.direct;
    }
    ++count_;
    if (count_ <= kFirstSlices)
        first_.push_back(slice);
    if (count_ <= kFirstValues)
        first_values_.push_back({slice.raw, slice.epoch});
    if (count_ >= kFirstSlices && (count_ & (count_ - 1)) == 0)
        find_bounds();
    if (count_ == kFirstSlices)
        count_first();
    else if (count_ > kFirstSlices)
        count_kept(slice);
    if (count_ == kFirstValues)
        add_first();
    else if (count_ > kFirstValues)
        add_clipped(slice.raw, slice.epoch);
}

void Cell::count_first()
{
    for (const ThinnedSlice &early : first_)
        count_kept(early);
    first_ = {};
}

void Cell::add_first()
{
    for (const Value &early : first_values_)
        add_clipped(early.raw, early.epoch);
    first_values_ = {};
}

void Cell::count_kept(const ThinnedSlice &slice)
{
    if (slice.raw < low_ || slice.raw > high_)
        return;
    ++kept_;
    for (const InsideCount &one : slice.inside)
        sum_of(inside_, one.name).kept += uint64_t{one.pairs} + one.marks;
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
    if (!first_values_.empty())
        find_bounds();
    count_first();
    add_first();
    buckets_ = histogram_.buckets();
    histogram_ = {};
}

void Cell::merge(const Cell &other)
{
    count_ += other.count_;
    sum_ += other.sum_;
    squares_ += other.squares_;
    clipped_sum_ += other.clipped_sum_;
    clipped_squares_ += other.clipped_squares_;
    kept_ += other.kept_;
    std::map<double, Bucket> all; // by lower end: all cells have the same buckets
    for (const std::vector<Bucket> *buckets : {&std::as_const(buckets_), &other.buckets_})
        for (const Bucket &bucket : *buckets)
            if (const auto [place, is_new] = all.try_emplace(bucket.low, bucket); !is_new) {
                place->second.count += bucket.count;
                place->second.sum += bucket.sum;
                place->second.squares += bucket.squares;
            }
    buckets_.clear();
    for (const auto &[low, bucket] : all)
        buckets_.push_back(bucket);
    clusters_.insert(clusters_.end(), other.clusters_.begin(), other.clusters_.end());
    for (const InsideSum &sum : other.inside_) {
        InsideSum &mine = sum_of(inside_, sum.name);
        mine.pairs += sum.pairs;
        mine.marks += sum.marks;
        mine.direct += sum.direct;
        mine.kept += sum.kept;
    }
    for (const CpuSum &sum : other.cpus_) {
        CpuSum &mine = sum_of_cpu(cpus_, sum.cpu_index);
        mine.slices += sum.slices;
        mine.inits += sum.inits;
        mine.exits += sum.exits;
    }
}
} // namespace nsdump
