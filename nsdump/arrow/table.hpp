// SPDX-License-Identifier: MIT
// arrow: rows of one table -> batches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <span>
#include <utility>
#include <vector>

#include "arrow/column.hpp"
#include "decode/clock.hpp"

namespace nsdump::arrow
{
// Ticks -> nanoseconds since the session's start.
class NsClock
{
public:
    // The start is that of zero_ticks_of().
    NsClock(const Clock &clock, uint64_t start_ticks)
        : start_ticks_(start_ticks), ns_per_tick_(is_known(clock) ? 1e9 / clock.hz : 0)
    {
    }
    static bool is_known(const Clock &clock) { return clock.hz > 0; }
    bool is_known() const { return ns_per_tick_ != 0; }
    int64_t since_start_ns(uint64_t ticks) const
    {
        // Ticks of a hostile trace may be beyond what nanoseconds can say.
        constexpr double kMostNs = 9.2e18;
        const double ns = double(int64_t(ticks - start_ticks_)) * ns_per_tick_;
        return int64_t(std::min(std::max(-kMostNs, ns), kMostNs));
    }

private:
    uint64_t start_ticks_;
    double ns_per_tick_;
};

class Table
{
public:
    explicit Table(std::vector<Column> columns) : columns_(std::move(columns)), batch_(columns_) {}
    virtual ~Table() = default;
    Table(const Table &) = delete;
    Table &operator=(const Table &) = delete;

    std::span<const Column> columns() const { return columns_; }
    bool has_full_batch() const { return !full_.empty(); }
    bool has_rows() const { return rows_ > 0; }
    // The oldest full batch, or else the rows so far.
    Batch take()
    {
        if (full_.empty())
            seal();
        Batch taken = std::move(full_.front());
        full_.pop_front();
        return taken;
    }

protected:
    int64_t row() const { return rows_; }
    void end_row()
    {
        if (++rows_ == kBatchRows)
            seal();
    }
    ColumnData &data(size_t column) { return batch_.columns[column]; }
    template <class T> T &value(size_t column)
    {
        return batch_.columns[column].values.template as<T>()[rows_];
    }
    void set_null(size_t column) { batch_.columns[column].set_null(rows_); }
    // Before a batch leaves, and after a new one has taken its place.
    virtual void finish_batch(Batch &) {}
    virtual void begin_batch() {}

private:
    void seal()
    {
        batch_.rows = std::exchange(rows_, 0);
        finish_batch(batch_);
        full_.push_back(std::exchange(batch_, Batch(columns_)));
        begin_batch();
    }

    std::vector<Column> columns_;
    Batch batch_;
    int64_t rows_ = 0;
    std::deque<Batch> full_;
};
} // namespace nsdump::arrow
