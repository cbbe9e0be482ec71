// SPDX-License-Identifier: MIT
// analyse: events of programs -> slices that lie in one epoch each, in cells by what was off.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "analyse/thinning/cell.hpp"
#include "analyse/thinning/epoch_table.hpp"
#include "analyse/thinning/result.hpp"
#include "decode/clock.hpp"
#include "decode/merge.hpp"

namespace nsdump
{
// The STARTs of one name by what precedes them on the thread.
struct Starts {
    uint64_t count = 0;
    uint64_t close = 0;     // a START or STOP is not far before
    double close_ticks = 0; // sum of the distances to it
};

// The slices of one name.
struct NameCells {
    double reference = 0;
    std::vector<std::unique_ptr<Cell>> cells; // by set of EpochTable; null: no slices in that set
    // Over all slices that nest and lie in one epoch, whether they were accepted or not.
    uint64_t nested = 0;
    std::vector<CpuSum> cpus;
    std::vector<InsideSum> inside; // at most ThinningCollector::kMaxInside names
    Starts starts;
    uint64_t accepted = 0;
    LeftOutCounts left_out{};
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
    static constexpr size_t kMaxInside = 256; // different names inside slices of one name
    static constexpr double kMarginSeconds = 5e-6;

    // `close_ticks`: up to this distance, a record is close to the one before it.
    ThinningCollector(TraceFile &trace, const EpochTable &epochs, const Clock &clock,
                      double close_ticks);

    // All runs of a merger.
    void consume(const Run &run);
    // Call after the last run.
    void finish();

    const EpochTable &epochs() const { return epochs_; }
    // Null for a name that never occurred.
    const NameCells *cells_of(NameId name) const
    {
        return name < names_.size() ? names_[name].get() : nullptr;
    }
    const UnitEpochs *units_of(NameId name) const
    {
        return name < units_.size() ? units_[name].get() : nullptr;
    }
    uint64_t distrusted_threads() const { return distrusted_; }
    struct ThreadView {
        bool is_trusted;         // its probes are switched
        EpochTable::Range range; // the epochs of its process
    };
    ThreadView thread(uint32_t thread_id) const
    {
        const auto found = threads_.find(thread_id);
        if (found == threads_.end())
            return {true, {}};
        return {found->second.is_trusted, epochs_.range_of(found->second.slice_id)};
    }

private:
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
        bool is_trusted = true;
    };

    Thread &thread_at(const Run &run, const Event &event);
    void take(const Run &run, const Event &event);
    uint32_t note_epoch(Thread &thread, const Event &event, NameId name);
    void note_off_record(Thread &thread, const Event &event, uint32_t epoch, bool is_first);
    void start(Thread &thread, const Run &run, const Event &event, NameId name);
    void stop(Thread &thread, const Event &event, NameId name);
    void unit(const Event &event, NameId name, uint32_t hint);
    LeftOut verdict(const Thread &thread, const Open &open, const Event &event,
                    uint32_t epoch) const;
    static void note_nested(NameCells &cells, const Open &open);
    void accept(NameCells &cells, const ThinnedSlice &slice);
    void note_distance(const Thread &thread, const Event &event, NameId name);
    static void give_to_parent(Thread &thread, const Open &open);
    static void add_inside(Open &open, const InsideCount &what);
    NameCells &cells_at(NameId name);

    TraceFile &trace_;
    const EpochTable &epochs_;
    uint64_t margin_ticks_;
    double close_ticks_;
    double step_;
    bool is_stepping_;
    std::vector<uint32_t> kernel_indices_;
    std::vector<uint64_t> kernel_records_; // by place in TraceFile::cpus()
    std::unordered_map<uint32_t, Thread> threads_;
    std::vector<std::unique_ptr<NameCells>> names_;
    std::vector<std::unique_ptr<UnitEpochs>> units_;
    uint64_t losses_ = 0;
    uint64_t distrusted_ = 0;
};
} // namespace nsdump
