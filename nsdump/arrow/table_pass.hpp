// SPDX-License-Identifier: MIT
// arrow: a trace -> batches of several tables, in one reading.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "analyse/event_selection.hpp"
#include "analyse/findings.hpp"
#include "analyse/pair/in_range.hpp"
#include "analyse/pair/user_and_kernel.hpp"
#include "arrow/c_export.hpp"
#include "arrow/event_table.hpp"
#include "arrow/loss_table.hpp"
#include "arrow/slice_table.hpp"

namespace nsdump::arrow
{
enum class TableKind : uint8_t { slices, units, losses, events };
inline constexpr size_t kTableKinds = 4;

struct PassOptions {
    std::array<bool, kTableKinds> tables{}; // those to make
    std::optional<CalibrationFile> calibration;
    std::string slice;            // only slices and events with this name; empty: all
    std::optional<uint64_t> unit; // only units with this number, slices and events in them
    // Only what ends in this range, in time since the session's start: slices by their STOP, units
    // by their INIT.  Losses are those of the whole recording.
    std::optional<int64_t> from_ns, to_ns;
    uint64_t limit = std::numeric_limits<uint64_t>::max(); // of slices, and of events
};

class TablePass
{
public:
    enum class Next { batch, nothing_yet, end };

    // Throws TraceError, and std::invalid_argument for a range that cannot be.
    TablePass(std::unique_ptr<ByteSource> source, PassOptions options);

    void export_schema(TableKind kind, ArrowSchema *out);
    // Returns Next::nothing_yet after some work without a full batch.  Throws TraceError.
    Next next(TableKind &kind, ArrowArray *out);
    // As next(), but returns the rows so far, perhaps none, instead of nothing_yet.
    Next next_rows(TableKind kind, ArrowArray *out);

    uint64_t position_bytes() const { return merger_.position_bytes(); }
    uint64_t size_bytes() const { return trace_.source().size_bytes(); }
    Findings findings();

private:
    // Sink of a side's pairer.
    struct Side {
        TablePass &pass;
        bool is_kernel;

        void slice(const Slice &slice) { pass.add_slice(slice, is_kernel); }
        void unit(const Unit &unit) { pass.add_unit(unit, is_kernel); }
        void mark(NameId, uint64_t) {}
        void unmatched_stop(NameId name, const Unit *unit, uint64_t)
        {
            pass.unmatched_stops_ += pass.selects(name, unit);
        }
    };
    enum class State : uint8_t { records, losses, rest, end };

    void add_slice(const Slice &slice, bool is_kernel)
    {
        if (is_selective_ && !selects(slice.name, slice.unit)) [[unlikely]]
            return;
        ++slice_rows_;
        if (slices_)
            slices_->add(slice, is_kernel);
    }
    void add_unit(const Unit &unit, bool is_kernel);
    void add_events(const Run &run);
    bool selects(NameId name, const Unit *unit) const;
    bool is_full() const;
    bool pairs() const { return slices_ || units_; }
    void do_some_work();
    bool read_run();
    Table *table(TableKind kind);
    bool take_batch(bool is_at_end, TableKind &kind, ArrowArray *out);
    void export_rows(Table &table, ArrowArray *out);
    Metadata metadata(TableKind kind) const;
    void add_losses(Metadata &all) const;

    TraceFile trace_;
    PassOptions options_;
    bool is_selective_;
    Clock clock_;
    uint64_t zero_ticks_;
    std::optional<ReadPlan> plan_; // none: everything is read
    EventSelection selection_;
    Correction correction_;
    NameDictionary dictionary_;
    std::optional<SliceTable> slices_;
    std::optional<UnitTable> units_;
    std::optional<EventTable> events_;
    std::optional<LossTable> losses_;
    RangeGate gate_;
    Side programs_side_{*this, false}, kernel_side_{*this, true};
    InRange<Side> programs_in_range_{gate_, programs_side_}, kernel_in_range_{gate_, kernel_side_};
    UserAndKernelPairs<InRange<Side>, InRange<Side>> pairs_;
    Merger merger_;
    uint64_t slice_rows_ = 0, event_rows_ = 0; // those that were selected
    uint64_t unmatched_stops_ = 0;             // of what is selected
    State state_ = State::records;
};
} // namespace nsdump::arrow
