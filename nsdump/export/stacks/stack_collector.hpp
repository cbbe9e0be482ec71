// SPDX-License-Identifier: MIT
// stacks: slices in the order of their STOPs -> a tree of stacks with what each slice takes itself,
// and counts of the slices that are not in it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "analyse/event_selection.hpp"
#include "analyse/pair/pair.hpp"
#include "export/stacks/stack_tree.hpp"
#include "export/stacks/stack_weight.hpp"

namespace nsdump
{
struct StackChoice {
    std::optional<uint64_t> unit; // only slices in the unit with this number
    std::string slice;            // only stacks that contain it, from there on; empty: all
    uint64_t from_ticks = 0;      // only slices that end then or later
};

// Slices that are in no stack, and why.  What is inside them is, with them as frames.
struct LeftOutSlices {
    uint64_t migrated = 0;
    uint64_t spans_loss = 0;
    uint64_t crossed = 0;
    uint64_t without_value = 0; // without the counter, or without calibration
    // Of two slices that cross, the one that ends first is counted as it ends.
    uint64_t counted_crossed = 0;

    uint64_t sum() const { return migrated + spans_loss + crossed + without_value; }
};

// The self value of a slice is its value minus those of the counted slices in it that have no
// other counted slice around them; so all self values together are the values of the counted slices
// that are in no other counted one.
class StackCollector
{
public:
    StackCollector(NameTable &names, const Correction &correction, const StackWeight &weight,
                   StackChoice choice, size_t max_stacks = StackTree::kMaxStacks)
        : names_(names), correction_(correction), weight_(weight), from_ticks_(choice.from_ticks),
          selection_(names, choice.unit, std::move(choice.slice)), tree_(max_stacks)
    {
    }

    void take(const Slice &slice, const ThreadState &thread, bool is_kernel);
    void note_unmatched_stop(NameId name, const Unit *unit, uint64_t ticks)
    {
        unmatched_stops_ += ticks >= from_ticks_ && selection_.has(name, unit);
    }
    void note_settled(const Slice &slice) { left_out_.counted_crossed += slice.is_crossed; }

    const StackTree &tree() const { return tree_; }
    const LeftOutSlices &left_out() const { return left_out_; }
    // STOPs of what is chosen that have no START, and so are no slices.
    uint64_t unmatched_stops() const { return unmatched_stops_; }

private:
    // At one depth of a thread: the frame that is open there, and the sum of the slices directly in
    // the frame around it.
    struct Level {
        uint64_t start_ticks = 0;
        NameId name = NameTable::kNone;
        uint32_t around = StackTree::kRoot; // the place under which `place` was found
        uint32_t place = StackTree::kRoot;
        uint64_t owner_ticks = 0; // start of the frame around it
        double inside = 0;
    };
    using Levels = std::vector<Level>;

    bool is_counted(const Slice &slice, const SliceWeight &value);
    bool is_interrupt(NameId name) const
    {
        return (names_[name].flags & NSLICE_SITE_INTERRUPT) != 0 && !weight_.nests_interrupts();
    }
    uint32_t place_of(Levels &levels, const Slice &slice, std::span<const OpenSlice> around);
    uint32_t place_at(Level &level, uint32_t around, NameId name, uint64_t start_ticks);
    static double take_inside(Levels &levels, const Slice &slice);
    static void add_inside(Levels &levels, size_t depth, std::span<const OpenSlice> around,
                           double value);

    NameTable &names_;
    const Correction &correction_;
    StackWeight weight_;
    uint64_t from_ticks_;
    EventSelection selection_;
    StackTree tree_;
    LeftOutSlices left_out_;
    uint64_t unmatched_stops_ = 0;
    std::unordered_map<uint64_t, Levels> threads_; // by stack_of()
};

// Sink of the pairer of one side.
class StackSink
{
public:
    StackSink(StackCollector &collector, bool is_kernel)
        : collector_(collector), is_kernel_(is_kernel)
    {
    }
    // To be called before the first slice.
    void set_pairs(const PairState &pairs) { pairs_ = &pairs; }

    void slice(const Slice &slice)
    {
        collector_.take(slice, pairs_->thread_of_slice(slice), is_kernel_);
    }
    // A slice is held if another may cross it.  Most do not cross, and what is around it is known
    // only now.
    void hold(const Slice &held) { slice(held); }
    void settled(const Slice &slice) { collector_.note_settled(slice); }
    void unit(const Unit &) {}
    void mark(NameId, uint64_t) {}
    void unmatched_stop(NameId name, const Unit *unit, uint64_t ticks)
    {
        collector_.note_unmatched_stop(name, unit, ticks);
    }

private:
    StackCollector &collector_;
    const PairState *pairs_ = nullptr;
    bool is_kernel_;
};
} // namespace nsdump
