// SPDX-License-Identifier: MIT
// Thinner: the design of the experiment is that of libnsprobe (common/thin).
#include "thinner.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <nslice/record.h>

namespace nsbpf
{
namespace
{
constexpr uint64_t kFullEpochs = 32, kFullShare = 15;
constexpr uint64_t kMostWatched = 8192; // records of an epoch
constexpr uint64_t kFirstWindows = 200; // while no name was seen inside another
constexpr double kWindowNs = 5e6, kIdleNs = 1e8;
// A store to a switch may be seen later than the clock that is read after it, and times of records
// are on a fitted line.
constexpr double kMarginNs = 5e3;
constexpr double kMostRowsNs = 1e8; // a recorder that is killed loses what is not written
constexpr size_t kMostRowBytes = 4096;
constexpr uint64_t kOpen = std::numeric_limits<uint64_t>::max();
} // namespace

Thinner::Thinner(uint32_t permille, uint64_t seed, double ticks_per_ns, uint64_t now)
    : ticks_per_ns_(ticks_per_ns), begin_ticks_(now), nesting_(std::make_unique<nsp_nesting>())
{
    nsp_arms_seed(&arms_, seed, permille);
}

// Only while nothing is off: what is off does not show.
void Thinner::watch(const std::vector<uint64_t> &words, uint16_t first,
                    const std::vector<ThinName> &by_number)
{
    if (words.empty() || words[0] > full_.end || watched_ >= kMostWatched)
        return;
    nsp_window window = {};
    for (size_t at = 0; at + 1 < words.size() && words[at] <= full_.end;
         at += NSLICE_RECORD_WORDS(words[at + 1])) {
        const uint64_t bits = words[at + 1];
        if (words[at] < full_.begin)
            continue;
        const size_t place = size_t(uint16_t(bits >> NSLICE_HEAD_SLICE_SHIFT)) - first;
        if (++watched_ > kMostWatched)
            break;
        if (place < by_number.size() && by_number[place] != kNeverOff)
            nsp_nesting_take(nesting_.get(), &window, NSLICE_RECORD_KIND(bits),
                             uint8_t(by_number[place]), uint32_t(bits));
    }
    nsp_nesting_settle(nesting_.get());
}

// Readers rely on it that nothing is off before the first epoch that is listed.
bool Thinner::is_full() const
{
    return epochs_ < kFullEpochs || epochs_ % kFullShare == 0 ||
           (rows_.empty() && !has_rows_written_);
}

void Thinner::end(uint64_t now, uint64_t generation)
{
    if (epoch_begin_ == 0)
        return;
    const auto margin = uint64_t(kMarginNs * ticks_per_ns_);
    full_.end = std::min(full_.end, now);
    if (nesting_->inner_count == 0) {
        ++idle_epochs_;
        return;
    }
    ++epochs_;
    // Sites that came meanwhile may be off without being listed.
    if (generation != thinned_.generation || now < epoch_begin_ + margin)
        return;
    nslice_file_epoch epoch = {};
    epoch.pid = NSLICE_EPOCH_OF_KERNEL;
    epoch.begin_ticks = epoch_begin_;
    epoch.end_ticks = now - margin;
    epoch.ids = uint32_t(thinned_.numbers.size());
    if (rows_.empty())
        rows_since_ = now;
    add_row(epoch);
}

void Thinner::add_row(const nslice_file_epoch &epoch)
{
    const std::vector<uint16_t> ids(thinned_.numbers.begin(), thinned_.numbers.end());
    rows_.append(reinterpret_cast<const char *>(&epoch), sizeof(epoch));
    rows_.append(reinterpret_cast<const char *>(ids.data()), ids.size() * sizeof(ids[0]));
    rows_.resize((rows_.size() + 7) / 8 * 8);
}

const ThinSet &Thinner::draw()
{
    if (is_full())
        off_ = {};
    else
        nsp_arms_draw(&arms_, nesting_.get(), off_.off.data());
    return off_;
}

// While no name is known to lie inside another, it is only looked for.
double Thinner::length_ns(uint64_t now)
{
    if (nesting_->inner_count == 0)
        return idle_epochs_ < kFirstWindows ? kWindowNs : kIdleNs;
    return double(nsp_arms_length_ns(&arms_, uint64_t(double(now - begin_ticks_) / ticks_per_ns_)));
}

void Thinner::begin(uint64_t now, Thinned thinned)
{
    thinned_ = std::move(thinned);
    epoch_begin_ = now + uint64_t(kMarginNs * ticks_per_ns_);
    due_ticks_ = now + uint64_t(length_ns(now) * ticks_per_ns_);
    watched_ = 0;
    // Records are drained later, some after the epoch: epochs in a row are one time.
    const bool was_all_on = std::exchange(
        is_all_on_, std::ranges::none_of(off_.off, [](uint8_t is_off) { return is_off != 0; }));
    if (is_all_on_)
        full_ = {was_all_on ? full_.begin : epoch_begin_, kOpen};
}

std::string Thinner::take_rows(uint64_t now, bool are_all)
{
    const bool is_late = double(now - rows_since_) > kMostRowsNs * ticks_per_ns_;
    // Before the first switch: if the recorder is killed, readers know that sites are switched.
    const bool is_first = !has_rows_written_ && epochs_ >= kFullEpochs;
    if (rows_.empty() || !(are_all || is_first || is_late || rows_.size() >= kMostRowBytes))
        return "";
    has_rows_written_ = true;
    return std::exchange(rows_, {});
}
} // namespace nsbpf
