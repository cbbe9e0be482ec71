// SPDX-License-Identifier: MIT
// arrow: chunk headers and footer -> where and how many records were lost.
#include "arrow/loss_table.hpp"

namespace nsdump::arrow
{
namespace
{
enum : size_t { kCpu, kKernel, kFromTicks, kToTicks, kFromNs, kToNs, kRecords, kMissingChunks };
} // namespace

LossTable::LossTable(const TraceFile &trace, const NsClock &clock)
    : Table({{"cpu", ColumnType::uint32, ""},
             {"kernel", ColumnType::boolean, ""},
             {"from_ticks", ColumnType::uint64, "ticks", true},
             {"to_ticks", ColumnType::uint64, "ticks", true},
             {"from_ns", ColumnType::int64, "ns", true},
             {"to_ns", ColumnType::int64, "ns", true},
             {"records", ColumnType::uint64, "records"},
             {"missing_chunks", ColumnType::uint64, "chunks"}}),
      trace_(trace), clock_(clock), walker_(trace.source(), trace.format(), 0, nullptr),
      by_cpu_(losses_of(trace, false).by_cpu)
{
}

bool LossTable::read_more()
{
    constexpr int kChunksAtOnce = 4096;
    Chunk chunk;
    for (int i = 0; i < kChunksAtOnce; ++i) {
        if (ring_ == trace_.cpus().size()) {
            add_rings_without_chunks();
            return false;
        }
        if (next_header(chunk))
            compare(chunk.header);
        else
            end_ring();
    }
    return true;
}

bool LossTable::next_header(Chunk &chunk)
{
    if (!offsets_)
        offsets_.emplace(trace_.cpus()[ring_].offsets);
    uint64_t offset = 0;
    return offsets_->next(offset) && walker_.header_at(offset, chunk);
}

void LossTable::compare(const ChunkHeader &header)
{
    const Loss loss = {last_ticks_, header.first_ticks, growth(lost_before_, header.lost_before),
                       growth(next_sequence_, header.sequence)};
    if ((loss.records | loss.missing_chunks) != 0)
        add(trace_.cpus()[ring_].is_kernel, trace_.cpus()[ring_].cpu, loss);
    last_ticks_ = header.first_ticks;
    next_sequence_ = header.sequence + 1;
    lost_before_ = header.lost_before;
}

// What the footer has in addition to the headers was lost after the last chunk.
void LossTable::end_ring()
{
    const CpuChunks &ring = trace_.cpus()[ring_];
    for (CpuLosses &cpu : by_cpu_) {
        if (cpu.is_kernel != ring.is_kernel || cpu.cpu != ring.cpu)
            continue;
        if (const uint64_t lost = growth(lost_before_, cpu.lost_sum()); lost > 0)
            add(ring.is_kernel, ring.cpu, {last_ticks_, std::nullopt, lost, 0});
        cpu.lost = {};
        cpu.lost_other = 0;
    }
    ++ring_;
    offsets_.reset();
    last_ticks_.reset();
    next_sequence_ = lost_before_ = 0;
}

void LossTable::add_rings_without_chunks()
{
    for (const CpuLosses &cpu : by_cpu_)
        if (cpu.lost_sum() > 0)
            add(cpu.is_kernel, cpu.cpu, {std::nullopt, std::nullopt, cpu.lost_sum(), 0});
}

void LossTable::add(bool is_kernel, uint32_t cpu, const Loss &loss)
{
    value<uint32_t>(kCpu) = cpu;
    data(kKernel).set_bit(row(), is_kernel);
    add_time(kFromTicks, loss.from_ticks);
    add_time(kToTicks, loss.to_ticks);
    value<uint64_t>(kRecords) = loss.records;
    value<uint64_t>(kMissingChunks) = loss.missing_chunks;
    end_row();
}

// The columns of nanoseconds are two behind those of ticks.
void LossTable::add_time(size_t column, const std::optional<uint64_t> &ticks)
{
    const size_t ns = column + kFromNs - kFromTicks;
    value<uint64_t>(column) = ticks.value_or(0);
    value<int64_t>(ns) = ticks ? clock_.since_start_ns(*ticks) : 0;
    if (!ticks)
        set_null(column);
    if (!ticks || !clock_.is_known())
        set_null(ns);
}
} // namespace nsdump::arrow
