// SPDX-License-Identifier: MIT
// arrow: the memory of one batch of columns.
#include "arrow/column.hpp"

namespace nsdump::arrow
{
namespace
{
size_t value_bytes(ColumnType type)
{
    switch (type) {
    case ColumnType::boolean: return kBatchRows / 8;
    case ColumnType::word: return kBatchRows;
    case ColumnType::uint32:
    case ColumnType::name: return kBatchRows * sizeof(uint32_t);
    case ColumnType::words: return (kBatchRows + 1) * sizeof(int32_t);
    case ColumnType::int64:
    case ColumnType::uint64:
    case ColumnType::float64: break;
    }
    return kBatchRows * sizeof(uint64_t);
}
} // namespace

ColumnData::ColumnData(const Column &column) : values(value_bytes(column.type))
{
    if (column.type == ColumnType::words)
        *values.as<int32_t>() = 0;
    if (column.type == ColumnType::boolean) // its bytes are written bit by bit
        std::memset(values.as<uint8_t>(), 0, kBatchRows / 8);
    if (!column.is_nullable)
        return;
    validity = Buffer(kBatchRows / 8);
    std::memset(validity.as<uint8_t>(), 0xff, kBatchRows / 8);
}

Batch::Batch(std::span<const Column> all)
{
    columns.reserve(all.size());
    for (const Column &column : all)
        columns.emplace_back(column);
}
} // namespace nsdump::arrow
