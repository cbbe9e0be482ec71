// SPDX-License-Identifier: MIT
// analyse: events -> slices and units; counts events that cannot be paired.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analyse/pair/slice.hpp"
#include "analyse/pair/thread_state.hpp"
#include "analyse/pair/threads_by_cpu.hpp"
#include "analyse/pair/unpaired.hpp"
#include "decode/merge.hpp"

namespace nsdump
{
// What is known of the cost of records by BPF programs.
struct BpfCosts {
    bool has_calls = false; // what the call of a program costs
    // A record that is at most so long after another one is right behind it, and one that is longer
    // after it than `far_ticks` is not at all; between the two, it is in part.
    double behind_ticks = 0, far_ticks = 0;

    // In parts of ProgramCounts::kBehindParts.
    uint32_t behind(double apart) const
    {
        if (apart >= far_ticks)
            return 0;
        const double share =
            apart <= behind_ticks ? 1 : (far_ticks - apart) / (far_ticks - behind_ticks);
        return uint32_t(std::lround(share * ProgramCounts::kBehindParts));
    }
};

// The side whose events are paired: programs or the kernel.
struct PairSide {
    size_t counters = 0; // number of counters in a START and a STOP
    size_t cpus = 0;     // size of TraceFile::cpus()
    bool is_kernel = false;
    // By place: the place of the kernel's ring of the same CPU.  Empty without kernel records.
    std::vector<uint32_t> kernel_indices = {};
    BpfCosts bpf = {};
    bool has_ways = false; // some slices are not recorded by macros
};

struct ShallowSlice;
struct TakenRecords;

// Where a payload belongs.
struct PayloadPlace {
    uint32_t cpu_index = 0;     // as of Run
    bool is_after_loss = false; // as of Run
};

// State of threads and stacks, independent of the sink.
class PairState
{
public:
    static constexpr uint32_t kMaxDepth = 64;
    static constexpr uint32_t kMaxUnits = 8;
    static constexpr size_t kMaxThreads = 65536;
    static constexpr size_t kMaxOverflowNames = 192;
    static constexpr size_t kMaxHeld = 4096; // over all threads

    PairState(NameTable &names, PairSide side)
        : names_(names), counters_(side.counters), is_kernel_(side.is_kernel), bpf_(side.bpf),
          last_ticks_(side.cpus), kernel_indices_(std::move(side.kernel_indices)),
          keeps_interruptions_(!kernel_indices_.empty() || side.has_ways), switches_(side.cpus),
          cached_(side.cpus), recent_(kRecent), open_unlost_(kOpenUnlost, side.cpus),
          open_seen_(kOpenSeen, side.cpus)
    {
    }
    virtual ~PairState() = default;
    PairState(const PairState &) = delete;
    PairState &operator=(const PairState &) = delete;

    // Adds an interruption to the thread's innermost open slice.
    void interrupt(uint32_t thread_id, const Interruptions &what);
    // Notes that the kernel's activity on this CPU, or in this thread, is unknown for all open
    // slices.
    void lose_sight_of_cpu(uint32_t cpu_index);
    void lose_sight_of_thread(uint32_t thread_id);
    // Records of this CPU that belong to threads of this side were lost.
    void lose_records(uint32_t cpu_index) { note_loss(cpu_index); }

    const Unpaired &unpaired() const { return unpaired_; }
    // The thread whose slice the sink is being given by slice() or hold(); the slices that are open
    // in it are those around it.
    const ThreadState &thread_of_slice(const Slice &slice) const
    {
        return *cached_[slice.cpu_index];
    }
    const BpfCosts &bpf_costs() const { return bpf_; }
    // Forgets what could not be paired so far.
    void clear_counts();

protected:
    // Passes on a slice whose class was not yet known when it ended.
    virtual void give(const Slice &slice) = 0;
    ThreadState &thread(uint32_t cpu_index, uint32_t id)
    {
        ThreadState *state = cached_[cpu_index];
        if (state && state->id == id) [[likely]]
            return *state;
        return find_thread(cpu_index, id);
    }
    // Probably the thread with this id; null if there is none.
    const ThreadState *guess_thread(uint32_t id) const { return recent_[id % kRecent]; }
    void push(ThreadState &thread, uint32_t cpu_index, NameId name, const Event &event);
    OpenSlice *open(ThreadState &thread, uint32_t cpu_index, NameId name, uint64_t ticks);
    // Whether a slice that begins now, and one inside it, may be plain.
    bool may_have_plain(const ThreadState &thread) const;
    uint64_t plain_start(const ThreadState &thread) const;
    void put_on_stack(ThreadState &thread, uint32_t cpu_index, ShallowSlice &slice);
    bool is_leaf(const ThreadState &thread, const Event &start, const Event &next) const;
    bool is_plain(const ThreadState &thread, uint32_t cpu_index, NameId name) const;
    void give_leaves_to_parent(ThreadState &thread, const LeavesSlice &slice);
    void give_plain_to_parent(ThreadState &thread, const PlainSlice &slice);
    // The rare paths of a START and of a STOP, for a thread with needs_care.
    void start_with_care(ThreadState &thread, NameId name);
    // True if the slice is to be passed on now; otherwise it is held.
    bool stop_with_care(ThreadState &thread, Slice &slice);
    // True if the START of this STOP was too deep.
    bool stop_too_deep(ThreadState &thread, NameId name);
    // False if the START is found after all: the slice crosses another.
    bool stop_without_start(ThreadState &thread, uint32_t cpu_index, NameId name,
                            const Event &event);
    // A crossed slice is not a child: its time stays in the slice around it, and the cost of its
    // probes is subtracted there.
    void give_crossed_to_parent(ThreadState &thread, const Slice &slice);
    // Makes the slice of this name the top one by dropping those above it; false if there is none.
    bool bring_to_top(ThreadState &thread, NameId name);
    void note_loss(uint32_t cpu_index);
    // Records of all threads were left out, so whatever CPU they were on, and are on from now.
    void note_pause();
    // STARTs and STOPs of this name were executed in the open slice at `depth`.
    void add_ends(ThreadState &thread, uint32_t depth, NameId name, uint32_t count)
    {
        if (const unsigned way = way_of(name); way == 0) [[likely]]
            thread.frames[depth].own.ends += count;
        else
            thread.interruptions[depth].all.ways.ends[way - 1] += int32_t(count);
    }
    unsigned way_of(NameId name) const { return keeps_interruptions_ ? names_[name].way : 0; }
    // Interruptions of a slice that ends, for the slice around it, in which they are no slice of
    // their own.
    void add_interruptions(Interruptions &around, const Slice &slice) const
    {
        around += *slice.interruptions;
        if (const unsigned way = way_of(slice.name); way != 0)
            --around.ways.slices[way - 1];
    }
    void note_cpu(ThreadState &thread, uint32_t cpu_index);
    // If a slice that spans a loss starts again, its STOP was lost: drops it together with the
    // slices inside it.  The thread is then listed again as one that a loss may affect.
    void drop_restarted(ThreadState &thread, NameId name);
    Unit *begin_unit(ThreadState &thread, NameId name, const Event &event);
    void end_unit(ThreadState &thread, NameId name);
    void close_all();
    void close_uncounted();
    // An interrupt is not a child of the slice around it: adds its time to that slice's
    // interruptions.
    void give_interrupt_to_parent(ThreadState &thread, const Slice &slice);
    void add_counters(std::array<int64_t, NSLICE_MAX_COUNTERS> &sums, const int64_t *values) const
    {
        for (size_t i = 0; i < counters_; ++i)
            sums[i] = wrapping_sum(sums[i], values[i]);
    }
    // Calls of BPF programs that the record itself caused: 0 or 1.
    uint8_t calls_of(const Event &event) const
    {
        return bpf_.has_calls && !names_.is_in_program(event.slice_id) &&
               way_of(names_.of_slice(event.slice_id)) == 0;
    }
    void note_behind(ThreadState &thread, uint32_t cpu_index, const Event &event)
    {
        const uint64_t apart = event.ticks - std::exchange(last_ticks_[cpu_index], event.ticks);
        if (thread.depth > 0 && double(apart) < bpf_.far_ticks &&
            names_.is_in_program(event.slice_id))
            thread.frames[thread.depth - 1].programs.behind += bpf_.behind(double(apart));
    }
    bool is_interrupt(NameId name) const
    {
        return (names_[name].flags & NSLICE_SITE_INTERRUPT) != 0;
    }

    NameTable &names_;
    size_t counters_;
    bool is_kernel_;
    const BpfCosts bpf_;
    std::vector<uint64_t> last_ticks_;     // by CPU: of the last record
    bool is_blind_ = false;                // kernel records that belong to this run are lost
    std::vector<uint32_t> kernel_indices_; // empty: no kernel records
    bool keeps_interruptions_;
    const bool has_plain_ = !is_kernel_ && !keeps_interruptions_ && !bpf_.has_calls; // PlainSlice
    Unpaired unpaired_;
    std::vector<uint32_t> switches_; // by CPU: how often the writing thread changed

private:
    static constexpr size_t kRecent = 4096, kManyThreads = 64;

    void set_open_units(ThreadState &thread, uint32_t count);
    ThreadState &find_thread(uint32_t cpu_index, uint32_t id);
    void forget_threads();
    void drop_top(ThreadState &thread);
    void drop_too_deep(ThreadState &thread);
    void suspect_top(ThreadState &thread);
    void settle(ThreadState &thread, uint32_t suspects, bool are_crossed);
    void settle_units(ThreadState &thread, uint64_t from_serial);
    void take_child_back(ThreadState &thread, const HeldSlice &held);
    static void look_for_care(ThreadState &thread);
    static void lose_sight_of(ThreadState &thread);
    void miss_records(ThreadState &thread);

    std::unordered_map<uint32_t, std::unique_ptr<ThreadState>> threads_;
    std::vector<ThreadState *> cached_; // by CPU: the thread seen there last
    std::vector<ThreadState *> recent_; // by id % kRecent: the thread that was looked up last
    std::vector<SeenNames> spare_seen_; // from closed units; the last is still cached
    ThreadsByCpu open_unlost_;          // threads that a loss of this side's records may affect
    ThreadsByCpu open_seen_;            // threads that a loss of kernel records may affect
    uint64_t last_serial_ = 0;
    size_t held_ = 0;
};

// Sink: struct with slice(const Slice &), unit(const Unit &), mark(NameId, uint64_t value).  A
// template, since a virtual call per record would cost as much as the pairing itself.  A sink for
// very many names may also have is_spread() const, which is true if its data of a name is usually
// not in the cache, and expect(NameId) const, which is called some time before a slice of the name
// arrives.
//
// A slice may be held until it is known whether it crosses another.  A sink of TakesHeldSlices gets
// it when it ends, while the slices around it are still known (hold()), and again, through
// settled() instead of slice(), once it is known.
template <class Sink>
concept TakesHeldSlices = requires(Sink &sink, const Slice &slice)
{
    sink.hold(slice);
    sink.settled(slice);
};

template <class Sink> class Pairer : public PairState
{
public:
    Pairer(NameTable &names, PairSide side, Sink &sink)
        : PairState(names, std::move(side)), sink_(sink)
    {
    }

    void consume(const Run &run);
    // The same with the records of a payload, where they lie; notes in the cursor what was read.
    // `on_thread` is called with the id of a record's thread if the record before it was of another
    // one, and for the first record.
    template <class OnThread>
    void consume(RecordCursor &records, const PayloadPlace &place, OnThread on_thread);
    // Slices that are still open at the end of the trace have no STOP.
    void finish() { close_all(); }
    // Those that are open at the end of a range of time may have one after it.
    void finish_range() { close_uncounted(); }

private:
    static constexpr ptrdiff_t kFarEvents = 28, kNearEvents = 14; // prefetch distances

    void give(const Slice &slice) override
    {
        if constexpr (TakesHeldSlices<Sink>)
            sink_.settled(slice);
        else
            sink_.slice(slice);
    }
    template <bool kLooksAhead> void take_all(const Run &run);
    void take_thread(ThreadState &thread, uint32_t cpu_index, RecordCursor &records);
    TakenRecords take_other(ThreadState &thread, uint32_t cpu_index, const uint64_t *at,
                            const RecordCursor &records);
    bool leaf_in_place(ThreadState &thread, uint32_t cpu_index, ShallowSlice &around,
                       const uint64_t *at);
    bool stop_shallow(ThreadState &thread, uint32_t cpu_index, const ShallowSlice &open,
                      uint64_t ticks);
    void leaf(ThreadState &thread, uint32_t cpu_index, const Event &start, const Event &stop);
    bool give_leaves(const LeavesSlice &slice);
    bool give_plain(const PlainSlice &slice);
    bool stop_plain(ThreadState &thread, uint32_t cpu_index, NameId name, uint64_t ticks);
    void leaf_slice(ThreadState &thread, uint32_t cpu_index, const Event &start, const Event &stop);
    void take(ThreadState &state, uint32_t cpu_index, const Event &event);
    void look_ahead(const Run &run, const Event &event) const;
    void stop(ThreadState &thread, uint32_t cpu_index, NameId name, const Event &event);
    void lone_stop(ThreadState &thread, uint32_t cpu_index, NameId name, const Event &event);
    void other(ThreadState &thread, NameId name, const Event &event);
    void read_counters(ThreadState &thread, uint32_t depth, const Event &event,
                       std::array<int64_t, NSLICE_MAX_COUNTERS> &values, Slice &slice);
    void tell_interruptions(ThreadState &thread, uint32_t depth, Slice &slice);
    void give_to_parent(ThreadState &thread, const Slice &slice);

    Sink &sink_;
};
} // namespace nsdump

#include "analyse/pair/pair_impl.hpp"
#include "analyse/pair/pair_in_place.hpp"
#include "analyse/pair/pair_plain.hpp"
