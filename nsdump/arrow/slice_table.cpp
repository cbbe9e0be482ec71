// SPDX-License-Identifier: MIT
// arrow: slices and units -> rows of their tables.
#include "arrow/slice_table.hpp"

namespace nsdump::arrow
{
std::vector<Column> SliceTable::columns_of(const TraceFile &trace)
{
    std::vector<Column> columns = {
        {"name", ColumnType::name, ""},
        {"cpu", ColumnType::uint32, ""},
        {"thread", ColumnType::uint32, ""},
        {"kernel", ColumnType::boolean, ""},
        {"unit", ColumnType::name, "", true},
        {"unit_number", ColumnType::uint64, "", true},
        {"unit_id", ColumnType::uint64, "", true},
        {"depth", ColumnType::uint32, ""},
        {"start_ticks", ColumnType::uint64, "ticks"},
        {"raw_ticks", ColumnType::int64, "ticks"},
        {"net_ticks", ColumnType::float64, "ticks", true},
        {"start_ns", ColumnType::int64, "ns", true},
        {"class", ColumnType::word, "", false, kSliceClassNames},
    };
    const auto add_counter = [&](const std::string &name) {
        columns.push_back({"raw_" + name, ColumnType::int64, "events", true});
        columns.push_back({"net_" + name, ColumnType::float64, "events", true});
    };
    for (const std::string &name : trace.counter_names())
        add_counter(name);
    for (const std::string &name : trace.kernel_counter_names())
        add_counter(kKernelPrefix + name);
    return columns;
}

SliceTable::SliceTable(const TraceFile &trace, const NsClock &clock, const Correction &correction)
    : Table(columns_of(trace)), clock_(clock), correction_(correction),
      program_counters_(trace.counter_names().size()),
      counters_(program_counters_ + trace.kernel_counter_names().size())
{
    for (const CpuChunks &chunks : trace.cpus()) {
        cpu_.push_back(chunks.cpu);
        is_kernel_ring_.push_back(chunks.is_kernel);
    }
    SliceTable::begin_batch();
}

void SliceTable::begin_batch()
{
    const auto place = [&]<class T>(size_t column, T *&to) { to = data(column).values.as<T>(); };
    place(kName, at_.name);
    place(kCpu, at_.cpu);
    place(kThread, at_.thread);
    place(kUnit, at_.unit);
    place(kUnitNumber, at_.unit_number);
    place(kUnitId, at_.unit_id);
    place(kDepth, at_.depth);
    place(kStartTicks, at_.start_ticks);
    place(kRawTicks, at_.raw_ticks);
    place(kNetTicks, at_.net_ticks);
    place(kStartNs, at_.start_ns);
    place(kClass, at_.slice_class);
}

void SliceTable::finish_batch(Batch &batch)
{
    if (!clock_.is_known())
        batch.columns[kStartNs].set_all_null(batch.rows);
}

void SliceTable::set_unit_null()
{
    const int64_t row = this->row();
    at_.unit[row] = 0; // an index beyond the dictionary is an error even where it is null
    at_.unit_number[row] = at_.unit_id[row] = 0;
    for (const size_t column : {kUnit, kUnitNumber, kUnitId})
        set_null(column);
}

// A slice fills the columns of the counters of its own side.
void SliceTable::add_counters(const Slice &slice)
{
    const bool is_kernel = is_kernel_ring_[slice.cpu_index];
    for (size_t counter = 0; counter < counters_; ++counter) {
        const size_t raw = kCounters + 2 * counter;
        if (!slice.counters || is_kernel != (counter >= program_counters_)) {
            value<int64_t>(raw) = 0;
            value<double>(raw + 1) = 0;
            set_null(raw);
            set_null(raw + 1);
            continue;
        }
        const size_t i = is_kernel ? counter - program_counters_ : counter;
        value<int64_t>(raw) = slice.counters[i];
        value<double>(raw + 1) = net_counter_of(slice, i, correction_);
        if (!correction_.of(slice.cpu_index, i + 1).is_known)
            set_null(raw + 1);
    }
}

namespace
{
enum : size_t {
    kUnitName,
    kNumber,
    kId,
    kUnitCpu,
    kUnitThread,
    kUnitKernel,
    kPackets,
    kBytes,
    kUnitStartTicks,
    kUnitStartNs,
};
} // namespace

UnitTable::UnitTable(const NsClock &clock)
    : Table({{"unit", ColumnType::name, ""},
             {"unit_number", ColumnType::uint64, ""},
             {"unit_id", ColumnType::uint64, ""},
             {"cpu", ColumnType::uint32, ""},
             {"thread", ColumnType::uint32, ""},
             {"kernel", ColumnType::boolean, ""},
             {"packets", ColumnType::uint64, "packets"},
             {"wire_bytes", ColumnType::uint64, "bytes"},
             {"start_ticks", ColumnType::uint64, "ticks"},
             {"start_ns", ColumnType::int64, "ns", true}}),
      clock_(clock)
{
}

void UnitTable::add(const Unit &unit, bool is_kernel)
{
    value<uint32_t>(kUnitName) = unit.name;
    value<uint64_t>(kNumber) = unit.number;
    value<uint64_t>(kId) = unit_id(unit, is_kernel);
    value<uint32_t>(kUnitCpu) = unit.cpu;
    value<uint32_t>(kUnitThread) = unit.thread_id;
    data(kUnitKernel).set_bit(row(), is_kernel);
    value<uint64_t>(kPackets) = unit.packets;
    value<uint64_t>(kBytes) = unit.wire_bytes;
    value<uint64_t>(kUnitStartTicks) = unit.start_ticks;
    value<int64_t>(kUnitStartNs) = clock_.since_start_ns(unit.start_ticks);
    end_row();
}

void UnitTable::finish_batch(Batch &batch)
{
    if (!clock_.is_known())
        batch.columns[kUnitStartNs].set_all_null(batch.rows);
}
} // namespace nsdump::arrow
