// SPDX-License-Identifier: MIT
// verify: counts of known slices -> passed, or what is wrong with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "cli/verify/known_slices.hpp"

namespace nsdump::verify
{
enum class Verdict { kPassed, kFailed, kUnavailable };

const char *verdict_name(Verdict verdict);

struct Outcome {
    Verdict verdict = Verdict::kUnavailable;
    std::string text; // what was checked, what is wrong, or why not
    std::optional<double> expected = {}, measured = {}; // of a slice whose count is wrong
    bool is_inconclusive = false; // the check's disturbance was too rare; more time may help
};

// What happened to the thread while it ran the slices.
struct Disturbances {
    uint64_t migrations = 0; // slices that ended on another CPU
    uint64_t preemptions = 0;
    uint64_t interrupts = 0; // of the whole machine, and page faults of the process
};

// Compares the slices of a trace with the truth, one by one.
class Comparison
{
public:
    explicit Comparison(const Truth &truth) : truth_(truth) {}

    // Slices that the truth does not have are ignored.  depth 0: it is in no other slice.
    void add(const std::string &name, uint32_t depth, double net);
    void add_uncounted(const std::string &name);
    void add_lost(uint64_t records) { lost_records_ += records; }

    /*
     * x86-64's PMUs count one more for each interrupt and each fault (`overcounts`), so a slice may
     * then have a few more than the truth: all slices together at most as many as there were, and
     * most slices none.  Fewer than the truth is always wrong.
     */
    Outcome judge(bool overcounts, const Disturbances &disturbances) const;

private:
    bool is_complete() const { return seen_.size() == truth_.size(); }
    Outcome failed(const std::string &what) const;
    Outcome failed_count(const std::string &what) const;

    Truth truth_;
    std::map<std::string, uint64_t> seen_; // by name: how many
    uint64_t slices_ = 0, exact_ = 0, above_ = 0, below_ = 0, uncounted_ = 0, lost_records_ = 0;
    double outermost_excess_ = 0; // sum
    std::string wrong_;           // name of the first slice below, or else of the first one above
    double wrong_net_ = 0;
    bool is_wrong_below_ = false;
};
} // namespace nsdump::verify
