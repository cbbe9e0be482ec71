// SPDX-License-Identifier: MIT
// analyse: events of programs -> slices that lie in one epoch each, in cells by what was off.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "analyse/pair/slice.hpp"
#include "analyse/statistics/spill.hpp"
#include "analyse/thinning/cells/name_cells.hpp"
#include "analyse/thinning/epoch_table.hpp"
#include "analyse/thinning/result.hpp"
#include "decode/clock.hpp"
#include "decode/merge.hpp"

namespace nsdump
{
// The STARTs of one name by what precedes them on the thread.
struct Starts {
    static constexpr uint64_t kEnough = 100;

    uint64_t count = 0;
    uint64_t close = 0;      // a START or STOP is not far before
    double close_ticks = 0;  // sum of the distances to it
    uint64_t after_stop = 0; // of the close ones, those after a STOP
    // Of these, those after the STOP of a slice without records inside: what is before that STOP is
    // work, as it is where all that is inside is off.
    uint64_t after_work = 0;
    double after_work_ticks = 0;
    uint64_t after_same = 0; // of those after a STOP, those after one of the same name
    // Of these, those after a slice without records inside.
    uint64_t after_same_work = 0;
    double after_same_work_ticks = 0;

    // The distance after a STOP is what the pair costs outside of its own slice.
    bool show_gap() const { return 2 * after_stop > count; }
    // Where reads overtake much work, the STOP must be behind the same work.
    bool show_own_gap() const { return 2 * after_same > count && after_same_work >= kEnough; }
    double own_gap() const { return after_same_work_ticks / double(after_same_work); }
    // Of those that are close.
    double mean_close_distance() const
    {
        return after_work >= kEnough ? after_work_ticks / double(after_work)
                                     : close_ticks / double(close);
    }
};

// Units of one name by epoch; ascending.
struct UnitEpochs {
    std::vector<Cluster> epochs;              // `sum`: units
    std::vector<EpochTable::Range> processes; // that have units of this name
};

class ThinningCollector
{
public:
    static constexpr size_t kMaxDepth = 64;
    static constexpr size_t kMaxThreads = 65536;
    static constexpr size_t kMaxInside = NameCells::kMaxInside;
    static constexpr double kMarginSeconds = 5e-6;

    // `close_ticks`: up to this distance, a record is close to the one before it.
    // Without `keeps_cells`, slices are only counted: nothing can be estimated.
    // The epochs say whether the slices are those of processes or of BPF programs.
    ThinningCollector(TraceFile &trace, const EpochTable &epochs, const Clock &clock,
                      double close_ticks, bool keeps_cells = true);

    // All runs of a merger.
    void consume(const Run &run);
    // After the last run: completes the cells of a name, and frees them, since those of very many
    // names do not fit in memory together.
    void finish(NameId name);
    void drop_cells(NameId name);

    const EpochTable &epochs() const { return epochs_; }
    // Null for a name that never occurred.
    const NameCells *cells_of(NameId name) const
    {
        return name < names_.size() ? names_[name].get() : nullptr;
    }
    const Starts &starts_of(NameId name) const
    {
        static const Starts none;
        return name < starts_.size() ? starts_[name] : none;
    }
    const UnitEpochs *units_of(NameId name) const
    {
        return name < units_.size() ? units_[name].get() : nullptr;
    }
    uint64_t distrusted_threads() const { return distrusted_; }
    struct View {
        bool is_trusted;         // its probes are switched
        EpochTable::Range range; // the epochs that its probes are switched in
    };
    View view_of(const Slice &slice) const;

private:
    static constexpr size_t kFewNames = 64;                       // whose cells fit in memory
    static constexpr size_t kManyNames = 512;                     // more are not in the cache
    static constexpr ptrdiff_t kFarEvents = 24, kNearEvents = 12; // prefetch distances

    struct Open {
        NameId name = 0;
        uint64_t start_ticks = 0;
        uint32_t epoch = EpochTable::kNone;
        uint32_t cpu_index = 0;
        uint32_t moves = 0;
        uint64_t losses = 0;
        uint64_t kernel_records = 0;
        bool is_nested = true;
        bool has_off_record = false;
        bool has_too_many = false;
        bool is_stepped = false;
        ThinnedSlice slice; // epoch and raw are set at its STOP
    };
    struct Thread {
        std::vector<Open> open; // `depth` of them; others are reused
        size_t depth = 0;
        uint32_t cpu_index = 0;
        uint32_t moves = 0;
        uint32_t epoch = EpochTable::kNone; // of its latest record in any
        uint64_t ticks = 0;                 // of its latest START or STOP; 0 before the first one
        uint16_t slice_id = 0;              // of its latest record of a slice or mark
        bool is_after_stop = false;         // that record is a STOP
        NameId stopped = 0;                 // of this name
        bool is_after_work = false;         // that of a slice without records inside
        bool is_trusted = true;
    };

    Thread *find_thread(uint32_t id) const
    {
        if (last_ && last_id_ == id) [[likely]]
            return last_;
        return look_up(id);
    }
    Thread *look_up(uint32_t id) const;
    Thread &thread_at(const Run &run, const Event &event);
    void look_ahead(const Run &run, const Event &event) const;
    void take(const Run &run, const Event &event);
    bool is_in_program(uint16_t slice_id) const;
    void consume_kernel(const Run &run);
    uint32_t note_epoch(Thread &thread, const Event &event, NameId name);
    void note_off_record(Thread &thread, const Event &event, uint32_t epoch, bool is_first);
    void start(Thread &thread, const Run &run, const Event &event, NameId name);
    void stop(Thread &thread, const Event &event, NameId name);
    void unit(const Event &event, NameId name, uint32_t hint);
    LeftOut verdict(const Thread &thread, const Open &open, const Event &event,
                    uint32_t epoch) const;
    void accept(NameId name, NameCells &cells, const ThinnedSlice &slice);
    void fill_cells(NameId name, NameCells &cells);
    static void note_nested(NameCells &cells, const Open &open);
    void note_distance(const Thread &thread, const Event &event, NameId name);
    static void give_to_parent(Thread &thread, const Open &open);
    static void add_inside(Open &open, const InsideCount &what);
    NameCells &cells_at(NameId name);

    TraceFile &trace_;
    const EpochTable &epochs_;
    uint64_t margin_ticks_;
    double close_ticks_;
    double step_;
    bool keeps_cells_;
    bool is_stepping_;
    std::vector<bool> is_in_program_; // by name, with epochs of BPF programs
    std::vector<uint32_t> kernel_indices_;
    std::vector<uint64_t> kernel_records_; // by place in TraceFile::cpus()
    mutable std::unordered_map<uint32_t, Thread> threads_;
    mutable Thread *last_ = nullptr; // found last
    mutable uint32_t last_id_ = 0;
    std::vector<Starts> starts_; // by name
    std::vector<std::unique_ptr<NameCells>> names_;
    SpillFile spill_{NameCells::kBareBytes}; // full lists
    std::vector<std::unique_ptr<UnitEpochs>> units_;
    uint64_t losses_ = 0;
    uint64_t distrusted_ = 0;
};
} // namespace nsdump
