// SPDX-License-Identifier: MIT
// arrow: slices and units -> rows of their tables.
#pragma once

#include "analyse/correct/slice_net.hpp"
#include "analyse/pair/slice.hpp"
#include "arrow/table.hpp"

namespace nsdump::arrow
{
// Of units of programs and of the kernel, which are numbered each on their own.
inline uint64_t unit_id(const Unit &unit, bool is_kernel)
{
    return unit.serial << 1 | uint64_t{is_kernel};
}

class SliceTable : public Table
{
public:
    SliceTable(const TraceFile &trace, const NsClock &clock, const Correction &correction);

    // Inline: it runs once for two records.  `is_kernel`: of the side that paired it.
    void add(const Slice &slice, bool is_kernel)
    {
        const int64_t row = this->row();
        const FieldConstants &ticks = correction_.of(slice.cpu_index, 0);
        const double net = net_ticks_of(slice, correction_);
        at_.name[row] = slice.name;
        at_.cpu[row] = cpu_[slice.cpu_index];
        at_.thread[row] = slice.thread_id;
        data(kKernel).set_bit(row, is_kernel);
        at_.depth[row] = slice.depth;
        at_.start_ticks[row] = slice.start_ticks;
        at_.raw_ticks[row] = slice.raw_ticks;
        at_.net_ticks[row] = net;
        at_.start_ns[row] = clock_.since_start_ns(slice.start_ticks);
        at_.slice_class[row] = uint8_t(slice_class_of(slice, ticks.is_known && net <= 0));
        if (!ticks.is_known) [[unlikely]]
            set_null(kNetTicks);
        if (slice.unit) {
            at_.unit[row] = slice.unit->name;
            at_.unit_number[row] = slice.unit->number;
            at_.unit_id[row] = unit_id(*slice.unit, is_kernel);
        } else {
            set_unit_null();
        }
        if (counters_ > 0) [[unlikely]]
            add_counters(slice);
        end_row();
    }

private:
    enum : size_t {
        kName,
        kCpu,
        kThread,
        kKernel,
        kUnit,
        kUnitNumber,
        kUnitId,
        kDepth,
        kStartTicks,
        kRawTicks,
        kNetTicks,
        kStartNs,
        kClass,
        kCounters, // the first; each has a raw and a net one
    };
    static std::vector<Column> columns_of(const TraceFile &trace);
    void begin_batch() override;
    void finish_batch(Batch &batch) override;
    void set_unit_null();
    void add_counters(const Slice &slice);

    NsClock clock_;
    const Correction &correction_;
    std::vector<uint32_t> cpu_; // by place in TraceFile::cpus()
    std::vector<bool> is_kernel_ring_;
    size_t program_counters_;
    size_t counters_; // of both sides
    struct {          // of the batch
        uint32_t *name, *cpu, *thread, *unit, *depth;
        uint64_t *unit_number, *unit_id, *start_ticks;
        int64_t *raw_ticks, *start_ns;
        double *net_ticks;
        uint8_t *slice_class;
    } at_{};
};

class UnitTable : public Table
{
public:
    explicit UnitTable(const NsClock &clock);
    void add(const Unit &unit, bool is_kernel);

private:
    void finish_batch(Batch &batch) override;

    NsClock clock_;
};
} // namespace nsdump::arrow
