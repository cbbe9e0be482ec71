// SPDX-License-Identifier: MIT
// Random thinning of BPF programs: what is off, for how long, and what the trace says of it.
#include <algorithm>
#include <cstring>
#include <initializer_list>
#include <set>
#include <string>
#include <vector>

#include <nslice/file.h>
#include <nslice/record.h>

#include "src/point_table.hpp"
#include "src/probes/thinner.hpp"
#include "support/catch.hpp"

namespace
{
using nsbpf::ThinName;
using nsbpf::Thinned;
using nsbpf::Thinner;

constexpr uint16_t kFirst = 0xf100, kOuter = kFirst, kInner = kFirst + 1, kUnit = kFirst + 2;
constexpr uint64_t kMs = 1'000'000; // ticks, at one a nanosecond
const std::vector<ThinName> kNames = {0, 1, nsbpf::kNeverOff};

struct Row {
    nslice_file_epoch head;
    std::vector<uint16_t> off;
};

std::vector<Row> rows_of(const std::string &text)
{
    std::vector<Row> rows;
    for (size_t at = 0; at < text.size();) {
        Row row;
        memcpy(&row.head, &text[at], sizeof(row.head));
        row.off.resize(row.head.ids);
        if (!row.off.empty())
            memcpy(row.off.data(), &text[at + sizeof(row.head)], 2ul * row.head.ids);
        at += (sizeof(row.head) + 2ul * row.head.ids + 7) / 8 * 8;
        rows.push_back(row);
    }
    return rows;
}

// A recorder with a thinner, and a program with a unit that holds a slice with another one inside.
struct Recorder {
    uint64_t now = 1000 * kMs;
    uint64_t generation = 1;
    Thinner thinner{1000, 7, 1, now};
    std::string rows;

    void step(bool has_inner = true)
    {
        const bool is_inner_on = !begin_next().has(1);
        write({middle()}, has_inner && is_inner_on);
        now = thinner.due_ticks();
    }
    uint64_t middle() const { return now + (thinner.due_ticks() - now) / 2; } // of the epoch
    nsbpf::ThinSet begin_next()
    {
        thinner.end(now, generation);
        rows += thinner.take_rows(now, false);
        const nsbpf::ThinSet off = thinner.draw();
        Thinned thinned = {{}, generation};
        if (off.has(0))
            thinned.numbers.insert(kOuter);
        if (off.has(1))
            thinned.numbers.insert(kInner);
        thinner.begin(now, std::move(thinned));
        return off;
    }
    void write(std::initializer_list<uint64_t> times, bool has_inner)
    {
        std::vector<uint64_t> words;
        for (uint64_t ticks : times) {
            const auto add = [&](uint16_t number, uint8_t kind) {
                words.push_back(ticks++);
                words.push_back(nsbpf::site_bits(number, kind) | 1234);
            };
            add(kUnit, NSLICE_KIND_START);
            add(kOuter, NSLICE_KIND_START);
            if (has_inner) {
                add(kInner, NSLICE_KIND_START);
                add(kInner, NSLICE_KIND_STOP);
            }
            add(kOuter, NSLICE_KIND_STOP);
        }
        thinner.watch(words, kFirst, kNames);
    }
    std::vector<Row> all()
    {
        thinner.end(now, generation);
        return rows_of(rows + thinner.take_rows(now, true));
    }
};
} // namespace

TEST_CASE("only names inside others are ever off", "[nsbpf][thinner]")
{
    Recorder recorder;
    for (int i = 0; i < 500; ++i)
        recorder.step();
    size_t off = 0;
    for (const Row &row : recorder.all()) {
        off += !row.off.empty();
        if (!row.off.empty())
            REQUIRE(row.off == std::vector<uint16_t>{kInner});
    }
    CHECK(off > 300);
}

TEST_CASE("nothing is off in the first epochs that are listed", "[nsbpf][thinner]")
{
    Recorder recorder;
    for (int i = 0; i < 100; ++i)
        recorder.step();
    const std::vector<Row> rows = recorder.all();
    REQUIRE(rows.size() > 60);
    for (size_t i = 0; i < 31; ++i)
        CHECK(rows[i].off.empty());
}

TEST_CASE("epochs follow each other with a gap for the switching", "[nsbpf][thinner]")
{
    Recorder recorder;
    for (int i = 0; i < 300; ++i)
        recorder.step();
    uint64_t last = 0;
    for (const Row &row : recorder.all()) {
        CHECK(row.head.pid == 0);
        CHECK(row.head.begin_ticks >= last + (last == 0 ? 0 : 10'000));
        CHECK(row.head.end_ticks > row.head.begin_ticks);
        last = row.head.end_ticks;
    }
}

TEST_CASE("an epoch in which sites or rules changed is not listed", "[nsbpf][thinner]")
{
    Recorder same, changed;
    for (int i = 0; i < 100; ++i) {
        same.step();
        changed.step();
    }
    ++changed.generation;
    CHECK(changed.all().size() + 1 == same.all().size());
}

TEST_CASE("without slices inside others nothing is listed", "[nsbpf][thinner]")
{
    Recorder recorder;
    for (int i = 0; i < 300; ++i)
        recorder.step(false);
    CHECK(recorder.all().empty());
}

TEST_CASE("a name that comes later is switched, too", "[nsbpf][thinner]")
{
    Recorder recorder;
    for (int i = 0; i < 300; ++i)
        recorder.step(false);
    for (int i = 0; i < 200; ++i)
        recorder.step();
    CHECK(std::ranges::any_of(recorder.all(), [](const Row &row) { return !row.off.empty(); }));
}

TEST_CASE("records that are drained after their epoch are looked at", "[nsbpf][thinner]")
{
    Recorder recorder;
    recorder.begin_next();
    for (int i = 0; i < 10; ++i) {
        const uint64_t before = recorder.middle();
        recorder.now = recorder.thinner.due_ticks();
        recorder.begin_next();
        recorder.write({before}, true);
    }
    recorder.now = recorder.thinner.due_ticks();
    CHECK_FALSE(recorder.all().empty());
}

TEST_CASE("records behind older ones in their chunk are looked at", "[nsbpf][thinner]")
{
    Recorder recorder;
    const uint64_t before = recorder.now - kMs;
    recorder.begin_next();
    recorder.write({before, recorder.middle()}, true);
    recorder.now = recorder.thinner.due_ticks();
    CHECK(recorder.all().size() == 1);
}

TEST_CASE("records before the first epoch are not looked at", "[nsbpf][thinner]")
{
    Recorder recorder;
    const uint64_t before = recorder.now - kMs;
    recorder.begin_next();
    recorder.write({before}, true);
    recorder.now = recorder.thinner.due_ticks();
    CHECK(recorder.all().empty());
}
