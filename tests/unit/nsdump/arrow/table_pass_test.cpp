// SPDX-License-Identifier: MIT
#include "arrow/table_pass.hpp"

#include <algorithm>
#include <cstring>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "export/export_support.hpp"
#include "support/catch.hpp"

namespace
{
using nsdump::arrow::PassOptions;
using nsdump::arrow::TableKind;
using nsdump::arrow::TablePass;

PassOptions wanted(TableKind kind)
{
    PassOptions options;
    options.tables[size_t(kind)] = true;
    return options;
}

// The first batch of a table, read as a receiver of the C interface reads it.
class Rows
{
public:
    Rows(const std::string &bytes, TableKind kind, PassOptions options)
        : pass_(test_support::source_of(bytes), std::move(options))
    {
        pass_.export_schema(kind, &schema_);
        TableKind got{};
        auto next = TablePass::Next::nothing_yet;
        while (next == TablePass::Next::nothing_yet)
            next = pass_.next(got, &array_);
        has_rows_ = next == TablePass::Next::batch;
        if (has_rows_)
            CHECK(got == kind);
        for (int64_t i = 0; i < schema_.n_children; ++i)
            places_[schema_.children[i]->name] = i;
    }
    Rows(const std::string &bytes, TableKind kind) : Rows(bytes, kind, wanted(kind)) {}
    ~Rows()
    {
        if (array_.release)
            array_.release(&array_);
        schema_.release(&schema_);
    }
    Rows(const Rows &) = delete;
    Rows &operator=(const Rows &) = delete;

    std::vector<std::string> findings() { return pass_.findings().lines; }
    int64_t count() const { return has_rows_ ? array_.length : 0; }
    bool has(const std::string &name) const { return places_.contains(name); }
    // Of the schema, as the C interface encodes it: numbers and texts, each after its length.
    std::map<std::string, std::string> metadata() const
    {
        const char *at = schema_.metadata;
        const auto number = [&at] {
            int32_t value;
            std::memcpy(&value, at, sizeof value);
            at += sizeof value;
            return value;
        };
        const auto text = [&at, &number] {
            const auto bytes = size_t(number());
            std::string value(at, bytes);
            at += bytes;
            return value;
        };
        std::map<std::string, std::string> all;
        for (int32_t left = number(); left > 0; --left) {
            const std::string key = text();
            all[key] = text();
        }
        return all;
    }
    ArrowArray &array() { return array_; }
    const ArrowArray &column(const std::string &name) const
    {
        return *array_.children[places_.at(name)];
    }
    bool is_null(const std::string &name, int64_t row) const
    {
        const auto *bits = static_cast<const uint8_t *>(column(name).buffers[0]);
        return bits && !(bits[row / 8] >> row % 8 & 1);
    }
    template <class T> T value(const std::string &name, int64_t row) const
    {
        return static_cast<const T *>(column(name).buffers[1])[row];
    }
    template <class Index = int32_t> std::string text(const std::string &name, int64_t row) const
    {
        const ArrowArray &words = *column(name).dictionary;
        const auto index = value<Index>(name, row);
        REQUIRE(index < words.length);
        const auto *offsets = static_cast<const int32_t *>(words.buffers[1]);
        return {static_cast<const char *>(words.buffers[2]) + offsets[index],
                size_t(offsets[index + 1] - offsets[index])};
    }

private:
    TablePass pass_;
    ArrowSchema schema_{};
    ArrowArray array_{};
    bool has_rows_ = false;
    std::map<std::string, int64_t> places_;
};

std::string one_slice(const std::string &name, double hz)
{
    test_support::TraceBuilder trace;
    trace.info(hz > 0 ? test_support::plain_info(hz) : std::string("clock.source=tsc\n"));
    const auto rx = trace.site(name);
    trace.start(0, 1, rx, 1010);
    trace.stop(0, 1, rx, 1110);
    trace.footer(NSLICE_END_CLOSED, 1300, 400);
    return trace.bytes();
}
} // namespace

TEST_CASE("slices in columns have the values of the rows of CSV", "[nsdump][arrow]")
{
    const Rows rows(test_support::varied_trace(), TableKind::slices);
    REQUIRE(rows.count() == 3);
    CHECK(rows.text("name", 0) == "rx,\"1\"");
    CHECK(rows.text("name", 2) == "tx");
    CHECK(rows.value<uint32_t>("cpu", 2) == 1);
    CHECK(rows.value<uint32_t>("thread", 0) == 1);
    CHECK(rows.text("unit", 0) == "batch");
    CHECK(rows.value<uint64_t>("unit_number", 0) == 7);
    CHECK(rows.value<uint64_t>("start_ticks", 1) == 1130);
    CHECK(rows.value<int64_t>("raw_ticks", 0) == 100);
    CHECK(rows.value<double>("net_ticks", 0) == 70);
    CHECK(rows.value<double>("net_ticks", 1) == -5);
    CHECK(rows.value<int64_t>("start_ns", 0) == 110); // 1 tick is 1 ns; the session began at 900
    CHECK(rows.text<int8_t>("class", 0) == "ok");
    CHECK(rows.text<int8_t>("class", 1) == "below-noise");
    CHECK(rows.text<int8_t>("class", 2) == "migrated");
    CHECK(rows.value<int64_t>("raw_INSTRUCTIONS", 0) == 105);
    CHECK(rows.value<double>("net_INSTRUCTIONS", 0) == 100);
}

TEST_CASE("what a slice does not have is null, not zero", "[nsdump][arrow]")
{
    const Rows rows(test_support::varied_trace(), TableKind::slices);
    for (const char *name : {"unit", "unit_number", "unit_id", "raw_INSTRUCTIONS"}) {
        INFO(name);
        CHECK_FALSE(rows.is_null(name, 0));
        CHECK(rows.is_null(name, 1));
        CHECK(rows.column(name).null_count == 2);
    }
    CHECK_FALSE(rows.is_null("net_ticks", 1));
    const Rows uncalibrated(one_slice("rx", 1e9), TableKind::slices);
    CHECK(uncalibrated.is_null("net_ticks", 0));
    CHECK_FALSE(uncalibrated.is_null("start_ns", 0));
    CHECK(Rows(one_slice("rx", 0), TableKind::slices).is_null("start_ns", 0));
}

TEST_CASE("units in columns have their packets and the place of their INIT", "[nsdump][arrow]")
{
    const Rows units(test_support::varied_trace(), TableKind::units);
    REQUIRE(units.count() == 1);
    CHECK(units.text("unit", 0) == "batch");
    CHECK(units.value<uint64_t>("unit_number", 0) == 7);
    CHECK(units.value<uint64_t>("packets", 0) == 64);
    CHECK(units.value<uint64_t>("wire_bytes", 0) == 4096);
    CHECK(units.value<uint64_t>("start_ticks", 0) == 1000);
    CHECK(units.value<uint32_t>("thread", 0) == 1);
    const Rows slices(test_support::varied_trace(), TableKind::slices);
    CHECK(slices.value<uint64_t>("unit_id", 0) == units.value<uint64_t>("unit_id", 0));
}

TEST_CASE("events in columns keep their words", "[nsdump][arrow]")
{
    const Rows events(test_support::varied_trace(), TableKind::events);
    REQUIRE(events.count() == 10);
    CHECK(events.text<int8_t>("kind", 0) == "INIT");
    CHECK(events.text("name", 0) == "batch");
    const auto *offsets = static_cast<const int32_t *>(events.column("words").buffers[1]);
    REQUIRE(offsets[1] == 3);
    const auto *words =
        static_cast<const uint64_t *>(events.column("words").children[0]->buffers[1]);
    CHECK(std::vector<uint64_t>(words, words + 3) == std::vector<uint64_t>{7, 64, 4096});
}

TEST_CASE("lost records are rows between two chunks, or after the last one", "[nsdump][arrow]")
{
    test_support::TraceBuilder trace;
    trace.info(test_support::plain_info());
    const auto rx = trace.site("rx");
    trace.start(0, 1, rx, 1000);
    trace.cut(0);
    trace.lose(0, NSLICE_LOST_FULL, 5);
    trace.stop(0, 1, rx, 2000);
    trace.cut(0);
    trace.lose(0, NSLICE_LOST_BUSY, 2);
    trace.lose(1, NSLICE_LOST_FULL, 3); // a CPU without chunks
    trace.footer(NSLICE_END_CLOSED, 3000, 400);
    const Rows rows(trace.bytes(), TableKind::losses);
    REQUIRE(rows.count() == 3);
    CHECK(rows.value<uint64_t>("records", 0) == 5);
    CHECK(rows.value<uint64_t>("from_ticks", 0) == 1000);
    CHECK(rows.value<uint64_t>("to_ticks", 0) == 2000);
    CHECK(rows.value<uint64_t>("records", 1) == 2);
    CHECK(rows.value<uint64_t>("from_ticks", 1) == 2000);
    CHECK(rows.is_null("to_ticks", 1));
    CHECK(rows.value<uint64_t>("records", 2) == 3);
    CHECK(rows.value<uint32_t>("cpu", 2) == 1);
    CHECK(rows.is_null("from_ticks", 2));
}

TEST_CASE("a name that is not UTF-8 is one in a dictionary", "[nsdump][arrow]")
{
    const Rows rows(one_slice("r\xff", 1e9), TableKind::slices);
    REQUIRE(rows.count() == 1);
    CHECK(rows.text("name", 0) == "r\xef\xbf\xbd");
}

TEST_CASE("a pass selects slices by name, unit and number", "[nsdump][arrow]")
{
    const std::string bytes = test_support::varied_trace();
    PassOptions by_name = wanted(TableKind::slices);
    by_name.slice = "tx";
    CHECK(Rows(bytes, TableKind::slices, by_name).count() == 2);
    PassOptions by_unit = wanted(TableKind::slices);
    by_unit.unit = 7;
    CHECK(Rows(bytes, TableKind::slices, by_unit).count() == 1);
    by_unit.unit = 8;
    CHECK(Rows(bytes, TableKind::slices, by_unit).count() == 0);
    PassOptions limited = wanted(TableKind::slices);
    limited.limit = 1;
    CHECK(Rows(bytes, TableKind::slices, limited).count() == 1);
    limited = wanted(TableKind::events);
    limited.limit = 4;
    CHECK(Rows(bytes, TableKind::events, limited).count() == 4);
}

TEST_CASE("a pass selects the events of a unit, also those of one name", "[nsdump][arrow]")
{
    const std::string bytes = test_support::varied_trace();
    PassOptions options = wanted(TableKind::events);
    options.unit = 7;
    CHECK(Rows(bytes, TableKind::events, options).count() == 5);
    options.slice = "length";
    CHECK(Rows(bytes, TableKind::events, options).count() == 1);
    options.slice = "tx";
    CHECK(Rows(bytes, TableKind::events, options).count() == 0);
}

TEST_CASE("a range has the slices that end in it, the units that begin in it, and its events",
          "[nsdump][arrow]")
{
    const std::string bytes = test_support::varied_trace(); // begins at 900 ticks, of 1 ns
    const auto part = [](TableKind kind, std::optional<int64_t> from_ns,
                         std::optional<int64_t> to_ns) {
        PassOptions options = wanted(kind);
        options.from_ns = from_ns;
        options.to_ns = to_ns;
        return options;
    };
    const auto count = [&](TableKind kind, std::optional<int64_t> from_ns,
                           std::optional<int64_t> to_ns) {
        return Rows(bytes, kind, part(kind, from_ns, to_ns)).count();
    };
    CHECK(count(TableKind::slices, {}, 210) == 1);
    CHECK(count(TableKind::slices, {}, 209) == 0);
    CHECK(count(TableKind::slices, 210, 245) == 2);
    CHECK(count(TableKind::slices, 211, {}) == 2);
    CHECK(count(TableKind::units, {}, 100) == 1);
    CHECK(count(TableKind::units, 101, {}) == 0);
    CHECK(count(TableKind::events, 220, 250) == 4);
    CHECK(count(TableKind::losses, {}, 100) == count(TableKind::losses, {}, {}));

    const Rows slices(bytes, TableKind::slices, part(TableKind::slices, 211, 245));
    CHECK(slices.text("name", 0) == "tx");
    CHECK(slices.value<uint64_t>("start_ticks", 0) == 1130);
    CHECK(slices.metadata()["netslice.range.from_ns"] == "211");
    CHECK(slices.metadata()["netslice.range.to_ns"] == "245");
    const auto of_losses =
        Rows(bytes, TableKind::losses, part(TableKind::losses, 211, 245)).metadata();
    CHECK_FALSE(of_losses.contains("netslice.range.from_ns"));
    CHECK_FALSE(Rows(bytes, TableKind::slices).metadata().contains("netslice.range.to_ns"));
}

TEST_CASE("a range keeps the selection of names, units and a number", "[nsdump][arrow]")
{
    const std::string bytes = test_support::varied_trace();
    PassOptions options = wanted(TableKind::slices);
    options.from_ns = 210;
    options.slice = "tx";
    CHECK(Rows(bytes, TableKind::slices, options).count() == 2);
    options.limit = 1;
    CHECK(Rows(bytes, TableKind::slices, options).count() == 1);
    options = wanted(TableKind::slices);
    options.from_ns = 210; // its unit began before
    options.unit = 7;
    CHECK(Rows(bytes, TableKind::slices, options).count() == 1);
    options = wanted(TableKind::events);
    options.from_ns = 111;
    options.unit = 7;
    CHECK(Rows(bytes, TableKind::events, options).count() == 3);
}

TEST_CASE("STOPs in a range whose START is not in what is read are reported", "[nsdump][arrow]")
{
    const std::string bytes = test_support::varied_trace();
    const auto count_of = [&](std::optional<int64_t> to_ns) {
        PassOptions options = wanted(TableKind::slices);
        options.from_ns = 0;
        options.to_ns = to_ns;
        Rows rows(bytes, TableKind::slices, options);
        const auto lines = rows.findings();
        return std::count(lines.begin(), lines.end(), nsdump::unmatched_words(1));
    };
    CHECK(count_of({}) == 1); // on CPU 1, at 1210
    CHECK(count_of(309) == 0);
}

TEST_CASE("a range that a trace cannot have is refused", "[nsdump][arrow]")
{
    const auto refused = [](double hz, std::optional<int64_t> from_ns,
                            std::optional<int64_t> to_ns) {
        PassOptions options = wanted(TableKind::slices);
        options.from_ns = from_ns;
        options.to_ns = to_ns;
        try {
            TablePass(test_support::source_of(one_slice("rx", hz)), options);
        } catch (const std::invalid_argument &error) {
            return std::string(error.what());
        }
        return std::string();
    };
    CHECK(refused(1e9, 5, 5).empty());
    CHECK(refused(1e9, -5, {}).empty());
    CHECK(refused(1e9, 5, 4).find("after") != std::string::npos);
    CHECK(refused(1e9, {}, -1).find("before") != std::string::npos);
    CHECK(refused(0, 5, {}).find("clock") != std::string::npos);
}

TEST_CASE("a limit is of slices, and of events", "[nsdump][arrow]")
{
    PassOptions options = wanted(TableKind::slices);
    options.tables[size_t(TableKind::events)] = true;
    options.limit = 2;
    TablePass pass(test_support::source_of(test_support::varied_trace()), options);
    std::map<TableKind, int64_t> rows;
    TableKind kind{};
    ArrowArray array{};
    for (auto next = pass.next(kind, &array); next != TablePass::Next::end;
         next = pass.next(kind, &array))
        if (next == TablePass::Next::batch) {
            rows[kind] += array.length;
            array.release(&array);
        }
    CHECK(rows[TableKind::slices] == 2);
    CHECK(rows[TableKind::events] == 2);
}

TEST_CASE("without a calibration at the start, times count from the first record",
          "[nsdump][arrow]")
{
    const Rows rows(one_slice("rx", 1e9), TableKind::slices);
    CHECK(rows.value<int64_t>("start_ns", 0) == 0);
}

TEST_CASE("a column that was moved out of its batch outlives it", "[nsdump][arrow]")
{
    ArrowArray column{};
    {
        Rows rows(test_support::varied_trace(), TableKind::slices);
        ArrowArray &name = *rows.array().children[0];
        column = name;
        name.release = nullptr; // as the specification requires of whichever code moves a child
    }
    REQUIRE(column.length == 3);
    CHECK(static_cast<const int32_t *>(column.buffers[1])[1] ==
          static_cast<const int32_t *>(column.buffers[1])[2]);
    CHECK(column.dictionary->length > 0);
    column.release(&column);
    CHECK(column.release == nullptr);
}

TEST_CASE("a table of more rows than a batch comes in several, and none is lost", "[nsdump][arrow]")
{
    constexpr int64_t kSlices = nsdump::arrow::kBatchRows + 10;
    test_support::TraceBuilder trace;
    trace.info(test_support::plain_info());
    const auto rx = trace.site("rx");
    for (int64_t i = 0; i < kSlices; ++i) {
        trace.start(0, 1, rx, uint64_t(2 * i));
        trace.stop(0, 1, rx, uint64_t(2 * i + 1));
    }
    trace.footer(NSLICE_END_CLOSED, 2 * kSlices, 400);
    TablePass pass(test_support::source_of(trace.bytes()), wanted(TableKind::slices));
    std::vector<int64_t> lengths;
    TableKind kind{};
    ArrowArray array{};
    for (auto next = pass.next(kind, &array); next != TablePass::Next::end;
         next = pass.next(kind, &array))
        if (next == TablePass::Next::batch) {
            lengths.push_back(array.length);
            array.release(&array);
        }
    CHECK(lengths == std::vector<int64_t>{nsdump::arrow::kBatchRows, 10});
}

TEST_CASE("tables and what is reported beside them say what pauses left out", "[nsdump][arrow]")
{
    const auto trace = [](const std::string &info) {
        test_support::TraceBuilder builder;
        builder.info(test_support::plain_info() + info);
        builder.calibration(NSLICE_CALIBRATION_START, 0, 0,
                            {test_support::entry(NSLICE_KIND_START, 0, 7, 21)});
        builder.mark(0, 1, builder.site("mark", NSLICE_KIND_MARK), 100, 1);
        builder.footer(NSLICE_END_CLOSED, 200, 200);
        return builder.bytes();
    };
    const std::string paused = trace("session.switches=2\nsession.paused_ns=1500000000\n"
                                     "session.paused_records=7\n");
    auto metadata = Rows(paused, TableKind::slices).metadata();
    CHECK(metadata["netslice.paused_records"] == "7");
    CHECK(metadata["netslice.paused_ns"] == "1500000000");
    CHECK_FALSE(Rows(trace(""), TableKind::slices).metadata().contains("netslice.paused_records"));
    TablePass pass(test_support::source_of(paused), wanted(TableKind::losses));
    const nsdump::Findings findings = pass.findings();
    CHECK(findings.lines == std::vector<std::string>{
                                "the recording was paused once, for 1.500 s: 7 records were left "
                                "out"});
    CHECK_FALSE(findings.are_wrong);
}
