// SPDX-License-Identifier: MIT
#include "analyse/statistics/spill.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "analyse/statistics/stats.hpp"
#include "nsdump_support.hpp"
#include "support/catch.hpp"

using nsdump::BatchedSlice;
using nsdump::NameId;
using nsdump::SpillFile;

namespace
{
class TemporaryFolder
{
public:
    explicit TemporaryFolder(const std::string &path)
    {
        if (const char *const before = std::getenv("TMPDIR"))
            before_ = before;
        setenv("TMPDIR", path.c_str(), 1);
    }
    ~TemporaryFolder()
    {
        before_.empty() ? unsetenv("TMPDIR") : setenv("TMPDIR", before_.c_str(), 1);
    }
    TemporaryFolder(const TemporaryFolder &) = delete;
    TemporaryFolder &operator=(const TemporaryFolder &) = delete;

private:
    std::string before_;
};

constexpr size_t kRowBytes = nsdump::Batches::kSlices * sizeof(BatchedSlice);

std::vector<BatchedSlice> row_of(int64_t ticks)
{
    nsdump::Slice slice{};
    slice.raw_ticks = ticks;
    return std::vector<BatchedSlice>(nsdump::Batches::kSlices, BatchedSlice(slice, 0, false));
}

std::vector<uint32_t> taken(SpillFile &spill, NameId name)
{
    std::vector<uint32_t> ticks;
    spill.take(name, [&](const void *row) {
        ticks.push_back(
            static_cast<const BatchedSlice *>(row)[nsdump::Batches::kSlices - 1].raw_ticks());
    });
    return ticks;
}

nsdump::TraceFile calibrated_trace()
{
    test_support::TraceBuilder trace;
    trace.info(test_support::plain_info(1e9, ""));
    trace.calibration(NSLICE_CALIBRATION_START, 0, 0,
                      {test_support::entry(NSLICE_KIND_START, 0, 20.3, 40.7, 0.5)});
    trace.mark(0, 1, 1, 10, 0);
    return nsdump::TraceFile(test_support::source_of(trace.bytes()));
}

// Slices of 512 names and more, from very short ones to those that take two places of a row, in
// units, with nested and left-out slices.
void give_slices(nsdump::StatsCollector &stats)
{
    nsdump::Unit unit;
    for (uint64_t i = 0; i < 400'000; ++i) {
        if (i % 40 == 0) {
            unit.serial = i / 40 + 1;
            unit.packets = i % 64;
            unit.seen.clear();
        }
        nsdump::Slice slice{};
        slice.name = static_cast<NameId>(i < 1000 ? i : i * 7919 % 641);
        slice.raw_ticks = int64_t((1 + i * 2654435761u % 1000) << (i * 31 % 37)) / 16 -
                          (i % 5000 == 7 ? 100'000 : 0);
        slice.children = uint32_t(i / 641 % 9 % 3);
        slice.inside.ends = 2 * slice.children;
        slice.child_ticks = slice.raw_ticks / 3 * slice.children;
        slice.is_interrupted = i % 11 == 0;
        slice.is_migrated = i % 997 == 0;
        slice.unit = i % 100 < 90 ? &unit : nullptr;
        stats.slice(slice);
    }
}

void check_same(nsdump::StatsCollector &a, nsdump::StatsCollector &b)
{
    for (NameId name = 0; name < 1000; ++name) {
        const auto left = a.take(name), right = b.take(name);
        const nsdump::FieldStats &x = left->ticks, &y = right->ticks;
        REQUIRE(left->first_seen == right->first_seen);
        REQUIRE(left->interrupted == right->interrupted);
        REQUIRE(left->migrated == right->migrated);
        REQUIRE(x.count == y.count);
        REQUIRE(x.packets == y.packets);
        REQUIRE(x.raw.sum() == y.raw.sum());
        REQUIRE(x.net.sum() == y.net.sum());
        REQUIRE(x.net.sd(x.net_count) == y.net.sd(y.net_count));
        REQUIRE(x.net.min() == y.net.min());
        REQUIRE(x.net.max() == y.net.max());
        REQUIRE(x.self_count == y.self_count);
        REQUIRE(x.self.sum() ==
                Approx(y.self.sum()).epsilon(1e-12)); // sums may be added in another order
        REQUIRE(x.unit_net == Approx(y.unit_net).epsilon(1e-12));
        REQUIRE(x.net_blocks.standard_error() == y.net_blocks.standard_error());
        REQUIRE(x.per_unit.blocks().standard_error() == y.per_unit.blocks().standard_error());
        REQUIRE(x.net_histogram.quantiles(std::array{0.01, 0.5, 0.99}) ==
                y.net_histogram.quantiles(std::array{0.01, 0.5, 0.99}));
    }
}
} // namespace

TEST_CASE("rows are returned by name in their original order, from the file and from memory",
          "[nsdump][spill]")
{
    SpillFile spill(kRowBytes);
    for (int64_t i = 0; i < 1000; ++i)
        REQUIRE(spill.append(static_cast<NameId>(i % 3), row_of(i).data()));
    std::vector<uint32_t> expected;
    for (uint32_t i = 1; i < 1000; i += 3)
        expected.push_back(i);
    CHECK(taken(spill, 1) == expected);
    CHECK_FALSE(spill.has(1));
    CHECK(taken(spill, 1).empty());
    CHECK(spill.append(1, row_of(5000).data()));
    CHECK(taken(spill, 1) == std::vector<uint32_t>{5000});
    CHECK(taken(spill, 2).size() == 333);
    CHECK(taken(spill, 77).empty());
}

TEST_CASE("without a folder for the temporary file, accepted rows stay and others are refused",
          "[nsdump][spill]")
{
    const TemporaryFolder none("/nowhere/at/all");
    SpillFile spill(kRowBytes);
    size_t kept = 0;
    while (kept < 1000 && spill.append(0, row_of(int64_t(kept)).data()))
        ++kept;
    REQUIRE(kept > 0);
    REQUIRE(kept < 1000);
    CHECK_FALSE(spill.append(0, row_of(1).data()));
    CHECK(taken(spill, 0).size() == kept);
}

TEST_CASE("slices that went to a temporary file give the same figures as in memory",
          "[nsdump][spill]")
{
    const auto trace = calibrated_trace();
    const nsdump::Correction correction(trace);
    nsdump::StatsCollector in_memory(correction, 0), spilled(correction, 0);
    in_memory.set_max_held_bytes(SIZE_MAX);
    spilled.set_max_held_bytes(500'000);
    give_slices(in_memory);
    give_slices(spilled);
    CHECK_FALSE(in_memory.is_spilling());
    CHECK(spilled.is_spilling());
    check_same(in_memory, spilled);
}

TEST_CASE("when the temporary file is full, figures are the same and memory grows",
          "[nsdump][spill]")
{
    const TemporaryFolder none("/nowhere/at/all");
    const auto trace = calibrated_trace();
    const nsdump::Correction correction(trace);
    nsdump::StatsCollector in_memory(correction, 0), spilled(correction, 0);
    in_memory.set_max_held_bytes(SIZE_MAX);
    spilled.set_max_held_bytes(500'000);
    give_slices(in_memory);
    give_slices(spilled);
    CHECK_FALSE(spilled.is_spilling());
    check_same(in_memory, spilled);
}
