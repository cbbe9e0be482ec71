// SPDX-License-Identifier: MIT
// arrow: events -> rows of their table.
#include "arrow/event_table.hpp"

#include <array>

#include <nslice/record.h>

namespace nsdump::arrow
{
namespace
{
// Kinds that the decoder passes on: it skips unknown ones.
constexpr size_t kKinds = NSLICE_KIND_EXIT + 1;

std::span<const char *const> kind_names()
{
    static const auto names = [] {
        std::array<const char *, kKinds + 1> all{}; // the last: unknown
        for (unsigned kind = 0; kind < all.size(); ++kind)
            all[kind] = kind_name(kind);
        return all;
    }();
    return names;
}

enum : size_t { kCpu, kThread, kKernel, kTicks, kNs, kKind, kName, kWords };
} // namespace

EventTable::EventTable(const NsClock &clock)
    : Table({{"cpu", ColumnType::uint32, ""},
             {"thread", ColumnType::uint32, ""},
             {"kernel", ColumnType::boolean, ""},
             {"ticks", ColumnType::uint64, "ticks"},
             {"ns", ColumnType::int64, "ns", true},
             {"kind", ColumnType::word, "", false, kind_names()},
             {"name", ColumnType::name, ""},
             {"words", ColumnType::words, ""}}),
      clock_(clock)
{
}

void EventTable::add(const Event &event, NameId name, bool is_kernel)
{
    value<uint32_t>(kCpu) = event.cpu;
    value<uint32_t>(kThread) = event.thread_id;
    data(kKernel).set_bit(row(), is_kernel);
    value<uint64_t>(kTicks) = event.ticks;
    value<int64_t>(kNs) = clock_.since_start_ns(event.ticks);
    value<uint8_t>(kKind) = uint8_t(std::min<size_t>(event.kind, kKinds));
    value<uint32_t>(kName) = name;
    std::vector<uint64_t> &words = data(kWords).all;
    words.insert(words.end(), event.words, event.words + event.word_count);
    data(kWords).values.as<int32_t>()[row() + 1] = int32_t(words.size());
    end_row();
}

void EventTable::finish_batch(Batch &batch)
{
    if (!clock_.is_known())
        batch.columns[kNs].set_all_null(batch.rows);
}
} // namespace nsdump::arrow
