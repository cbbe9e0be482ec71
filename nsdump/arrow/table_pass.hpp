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
    uint64_t limit = std::numeric_limits<uint64_t>::max(); // of slices, and of events
};

class TablePass
{
public:
    enum class Next { batch, nothing_yet, end };

    // Throws TraceError.
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
    };
    enum class State : uint8_t { records, losses, rest, end };

    void add_slice(const Slice &slice, bool is_kernel)
    {
        if (is_selective_ && !selects(slice)) [[unlikely]]
            return;
        ++slice_rows_;
        if (slices_)
            slices_->add(slice, is_kernel);
    }
    void add_unit(const Unit &unit, bool is_kernel);
    void add_events(const Run &run);
    bool selects(const Slice &slice) const;
    bool is_full() const;
    bool pairs() const { return slices_ || units_; }
    void do_some_work();
    bool read_run();
    Table *table(TableKind kind);
    bool take_batch(bool is_at_end, TableKind &kind, ArrowArray *out);
    void export_rows(Table &table, ArrowArray *out);
    Metadata metadata() const;

    TraceFile trace_;
    PassOptions options_;
    bool is_selective_;
    Clock clock_;
    uint64_t zero_ticks_;
    EventSelection selection_;
    Correction correction_;
    NameDictionary dictionary_;
    std::optional<SliceTable> slices_;
    std::optional<UnitTable> units_;
    std::optional<EventTable> events_;
    std::optional<LossTable> losses_;
    Side programs_side_{*this, false}, kernel_side_{*this, true};
    UserAndKernelPairs<Side, Side> pairs_;
    Merger merger_;
    uint64_t slice_rows_ = 0, event_rows_ = 0; // those that were selected
    State state_ = State::records;
};
} // namespace nsdump::arrow
