// SPDX-License-Identifier: MIT
// Thinner: drained records -> which names lie inside others -> epochs in which some are off at
// random.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <nslice/file.h>

#include "common/thin/arms.h"

namespace nsbpf
{
// The place of a slice's or mark's name among those that can be off.
using ThinName = uint16_t;
constexpr ThinName kNeverOff = NSP_THIN_NAMES; // units, and names beyond the last place

struct ThinSet {
    std::array<uint8_t, NSP_THIN_NAMES> off = {};

    bool has(ThinName name) const { return name < off.size() && off[name] != 0; }
};

// What has been switched.  Sites and rules have changed if the generation has.
struct Thinned {
    std::set<uint16_t> numbers; // of the sites that are off
    uint64_t generation = 0;
};

// One thread.  Times are ticks of the trace's clock.
class Thinner
{
public:
    // permille: the share of the time in which something is off.
    Thinner(uint32_t permille, uint64_t seed, double ticks_per_ns, uint64_t now);

    // Records of one CPU, in order; by_number: the names of the sites from `first` on.
    void watch(const std::vector<uint64_t> &words, uint16_t first,
               const std::vector<ThinName> &by_number);

    // When the present epoch is to end.
    uint64_t due_ticks() const { return due_ticks_; }
    // Ends the present epoch, before anything is switched.
    void end(uint64_t now, uint64_t generation);
    // What is to be off in the next one.
    const ThinSet &draw();
    // The next one begins: everything has been switched.
    void begin(uint64_t now, Thinned thinned);

    // Rows of an EPOCHS chunk that are to be written now, before the next switch; "": none yet.
    std::string take_rows(uint64_t now, bool are_all);

private:
    bool is_full() const;
    double length_ns(uint64_t now);
    void add_row(const nslice_file_epoch &epoch);

    struct Span {
        uint64_t begin = 0, end = 0;
    };

    const double ticks_per_ns_;
    const uint64_t begin_ticks_;
    nsp_arms arms_ = {};
    std::unique_ptr<nsp_nesting> nesting_;
    ThinSet off_;
    Thinned thinned_;
    uint64_t epoch_begin_ = 0; // 0: before the first one
    uint64_t due_ticks_ = 0;
    uint64_t epochs_ = 0;      // since a name was seen inside another
    uint64_t idle_epochs_ = 0; // before
    bool has_rows_written_ = false;
    std::string rows_;
    uint64_t rows_since_ = 0;
    Span full_;              // the latest time in which nothing was off
    bool is_all_on_ = false; // the present epoch is a part of it
    uint64_t watched_ = 0;   // records in this epoch
};
} // namespace nsbpf
