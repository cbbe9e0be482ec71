// SPDX-License-Identifier: MIT
#include "memory/cycle.hpp"

#include <cstdlib>
#include <fstream>
#include <memory>
#include <set>
#include <sstream>

#include "memory/caches.hpp"
#include "memory/chase.hpp"
#include "memory/levels.hpp"
#include "memory/median.hpp"
#include "memory/region.hpp"
#include "support/catch.hpp"
#include "support/temp_dir.hpp"

using namespace calibrate;

namespace
{
constexpr size_t kPage = 4096;

struct Free {
    void operator()(std::byte *memory) const { std::free(memory); }
};
using Buffer = std::unique_ptr<std::byte, Free>;

Buffer buffer_of(size_t bytes)
{
    return Buffer(static_cast<std::byte *>(std::aligned_alloc(kPage, bytes)));
}

size_t length_from(const Place *first)
{
    std::set<const Place *> seen;
    for (const Place *at = first; seen.insert(at).second;)
        at = at->next;
    return seen.size();
}

void put(const std::filesystem::path &path, const std::string &text)
{
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
}

void put_cache(const std::filesystem::path &root, int index, const std::string &level,
               const std::string &type, const std::string &size)
{
    const auto folder =
        root / "sys/devices/system/cpu/cpu1/cache" / ("index" + std::to_string(index));
    put(folder / "level", level + "\n");
    put(folder / "type", type + "\n");
    put(folder / "size", size + "\n");
    put(folder / "shared_cpu_list", "0-1\n");
    put(folder / "coherency_line_size", "64\n");
}

LatencyPoint point_of(uint64_t bytes, double ticks)
{
    return {bytes, {{ticks}}, {{ticks / 4}}};
}

// Latencies of 4, 14, 50 and 300 ticks that change at 32 KiB, 1 MiB and `last` bytes.
LatencyRun run_of(uint64_t last)
{
    LatencyRun run;
    for (uint64_t bytes = 4096; bytes <= (uint64_t(256) << 20); bytes *= 2) {
        const double ticks = bytes <= 32 << 10  ? 4
                             : bytes <= 1 << 20 ? 14
                             : bytes <= last    ? 50
                                                : 300;
        run.small.points.push_back(point_of(bytes, ticks));
    }
    return run;
}

std::vector<Cache> known_caches()
{
    return {{1, 32 << 10, 64, "0", "test"},
            {2, 1 << 20, 64, "0", "test"},
            {3, 32 << 20, 64, "0-1", "test"}};
}
} // namespace

TEST_CASE("a cycle of pointers goes through every place once", "[calibrate][memory]")
{
    const Buffer buffer = buffer_of(1000 * kLineBytes / kPage * kPage + kPage);
    for (const size_t count : {1, 2, 3, 17, 256, 1000})
        for (const uint64_t seed : {1, 2, 3}) {
            const Places places = {buffer.get(), count};
            link_cycle(places, seed);
            CHECK(length_from(places[0]) == count);
        }
}

TEST_CASE("a cycle with one line in each page goes through all of them and stays in its pages",
          "[calibrate][memory]")
{
    constexpr size_t kCount = 200;
    const Buffer buffer = buffer_of(kCount * kPage);
    const Places places = {buffer.get(), kCount, kPage};
    link_cycle(places, 7);
    CHECK(length_from(places[0]) == kCount);
    std::set<size_t> lines;
    for (size_t i = 0; i < kCount; ++i) {
        const auto at = size_t(reinterpret_cast<std::byte *>(places[i]) - buffer.get());
        CHECK(at / kPage == i);
        lines.insert(at % kPage / kLineBytes);
    }
    CHECK(lines.size() == kPage / kLineBytes); // not all in the same sets of a cache
}

TEST_CASE("cycles of different seeds differ", "[calibrate][memory]")
{
    const Buffer buffer = buffer_of(64 * kPage);
    const Places places = {buffer.get(), 64 * kPage / kLineBytes};
    link_cycle(places, 1);
    std::vector<const Place *> first;
    for (size_t i = 0; i < places.count; ++i)
        first.push_back(places[i]->next);
    link_cycle(places, 2);
    size_t same = 0;
    for (size_t i = 0; i < places.count; ++i)
        same += places[i]->next == first[i];
    CHECK(same < places.count / 100);
}

TEST_CASE("a chase moves along the cycle by the number of its loads", "[calibrate][memory]")
{
    const Buffer buffer = buffer_of(kPage);
    const Places places = {buffer.get(), 64};
    link_cycle(places, 1);
    Place *at = places[0];
    chased_ticks(at, 64);
    CHECK(at == places[0]);
    chased_ticks(at, 8);
    const Place *expected = places[0];
    for (int i = 0; i < 8; ++i)
        expected = expected->next;
    CHECK(at == expected);
    Chains chains;
    for (unsigned i = 0; i < kManyChains; ++i)
        chains[i] = places[i];
    overlapped_ticks(chains, 64 * kManyChains);
    for (unsigned i = 0; i < kManyChains; ++i)
        CHECK(chains[i] == places[i]);
}

TEST_CASE("the interval of a median leaves out outliers and is that of order statistics",
          "[calibrate][memory]")
{
    std::vector<double> values;
    for (int i = 1; i <= 25; ++i)
        values.push_back(i);
    values[3] = 1e9;
    const Median median = median_of(values);
    CHECK(median.count == 25);
    CHECK(median.value == 14);
    // With 25 values the ranks are 8 and 18: 1 - 2 P(fewer than 8 below the median) = 95.7 %.
    CHECK(median.low == 9);
    CHECK(median.high == 19);
    CHECK(median_of({}).count == 0);
    CHECK(median_of({7}).low == 7);
    CHECK(median_of({1, 2, 3}).low == 1);
    CHECK(median_of({1, 2, 3}).high == 3);
}

TEST_CASE("the interval contains the medians of all passes", "[calibrate][memory]")
{
    const std::vector<double> quiet(25, 10.0), busy(25, 40.0);
    const Median median = median_of_passes({quiet, quiet, quiet, quiet, busy});
    CHECK(median.value == 10);
    CHECK(median.high == 40);
}

TEST_CASE("caches are read by level, without those for instructions", "[calibrate][memory]")
{
    const test_support::TempDir root;
    put_cache(root.path(), 0, "1", "Data", "48K");
    put_cache(root.path(), 1, "1", "Instruction", "32K");
    put_cache(root.path(), 2, "3", "Unified", "32M");
    put_cache(root.path(), 3, "2", "Unified", "2048K");
    const auto caches = read_caches(root.path(), 1);
    REQUIRE(caches.size() == 3);
    CHECK(caches[0].bytes == 48 << 10);
    CHECK(caches[0].line_bytes == 64);
    CHECK(caches[1].level == 2);
    CHECK(caches[2].bytes == 32 << 20);
    CHECK(caches[2].shared_by == "0-1");
    CHECK(read_caches(root.path(), 0).empty());
}

TEST_CASE("a damaged description of a cache is left out", "[calibrate][memory]")
{
    const test_support::TempDir root;
    put_cache(root.path(), 0, "1", "Data", "32K");
    put_cache(root.path(), 1, "2", "Unified", "0K");
    put_cache(root.path(), 2, "3", "Unified", "99999999999999999999M");
    put_cache(root.path(), 3, "4", "Unified", "many");
    put_cache(root.path(), 4, "x", "Unified", "1M");
    CHECK(read_caches(root.path(), 1).size() == 1);
}

TEST_CASE("the largest size follows the caches, the free memory and the wish",
          "[calibrate][memory]")
{
    const auto caches = known_caches();
    CHECK(plan_latency(caches, {}, 0).sizes.back() == 256 << 20);
    CHECK(plan_latency(caches, uint64_t(64) << 20, 0).sizes.back() == 16 << 20);
    CHECK(plan_latency(caches, {}, 1 << 20).sizes.back() == 1 << 20);
    CHECK(plan_latency({}, {}, 0).sizes.back() == 256 << 20);
    CHECK(plan_latency(caches, 1024, 0).sizes.empty());
}

TEST_CASE("available memory is that of the machine, or less in a container", "[calibrate][memory]")
{
    const test_support::TempDir root;
    CHECK_FALSE(available_bytes(root.path()));
    put(root / "proc/meminfo", "MemTotal:       100 kB\nMemAvailable:    64 kB\n");
    CHECK(available_bytes(root.path()) == 64 << 10);
    put(root / "sys/fs/cgroup/memory.max", "max\n");
    CHECK(available_bytes(root.path()) == 64 << 10);
    put(root / "sys/fs/cgroup/memory.max", "4096\n");
    CHECK(available_bytes(root.path()) == 4096);
}

TEST_CASE("a cache is measured at more than the one before it holds", "[calibrate][memory]")
{
    const auto caches = known_caches();
    CHECK(size_for(caches, caches[0]) == 8 << 10);
    CHECK(size_for(caches, caches[1]) == 128 << 10);
    CHECK(size_for(caches, caches[2]) == 4 << 20);
    const std::vector<Cache> close = {{1, 64 << 10, {}, {}, "test"}, {2, 96 << 10, {}, {}, "test"}};
    CHECK(size_for(close, close[1]) == 72 << 10); // not as large as the cache itself
}

TEST_CASE("a level is slower from the size of its cache on", "[calibrate][memory]")
{
    const LatencyRun run = run_of(32 << 20);
    const auto levels = levels_of(known_caches(), run);
    REQUIRE(levels.size() == 4);
    CHECK(levels[0].name == "L1");
    CHECK(levels[0].small->ticks().value == 4);
    CHECK(levels[2].small->ticks().value == 50);
    CHECK(levels[3].name == "memory");
    CHECK(levels[3].small->ticks().value == 300);
    for (int i = 0; i < 3; ++i)
        CHECK(levels[size_t(i)].step_agrees());
    CHECK(level_warnings(levels).empty());
}

TEST_CASE("a cache that is used by others too is reported as smaller than its size",
          "[calibrate][memory]")
{
    const std::vector<Cache> caches = {{1, 32 << 10, {}, {}, "test"},
                                       {2, 32 << 20, {}, {}, "test"}};
    LatencyRun run;
    for (uint64_t bytes = 4096; bytes <= (uint64_t(256) << 20); bytes *= 2)
        run.small.points.push_back(point_of(bytes, bytes <= 32 << 10  ? 4
                                                   : bytes <= 8 << 20 ? 50
                                                                      : 300));
    const auto levels = levels_of(caches, run);
    REQUIRE(levels.size() == 3);
    CHECK(levels[0].step_agrees());
    CHECK(levels[1].step_bytes == 16 << 20);
    CHECK(levels[1].step_agrees());      // half of its size is still taken as the same
    run.small.points[5].alone = {{300}}; // 128 KiB, where this cache is measured
    const auto said = level_warnings(levels_of(caches, run));
    REQUIRE(said.size() == 1);
    CHECK(said[0].text.find("32M could not be verified") != std::string::npos);
}

TEST_CASE("a step far from the size of the cache is a warning", "[calibrate][memory]")
{
    const LatencyRun run = run_of(32 << 20);
    auto caches = known_caches();
    caches.pop_back();
    caches[1].bytes = 256 << 10; // the step is at 1 MiB
    const auto said = level_warnings(levels_of(caches, run));
    REQUIRE(said.size() == 1);
    CHECK(said[0].text.find("L2: loads become slower at 2M, not at its size of 256K") == 0);
}

TEST_CASE("the cost of a page is that beyond as many lines side by side", "[calibrate][memory]")
{
    LatencyRun run = run_of(32 << 20);
    run.by_page.points = {point_of(128 * 64, 11), point_of(16 * 64, 4)};
    CHECK(page_cost_ticks(run, run.by_page.points[0]) == 7);
    CHECK(page_cost_ticks(run, run.by_page.points[1]) == 0); // fewer lines than the least size
}

TEST_CASE("huge pages are those of the mapping that contains the address", "[calibrate][memory]")
{
    std::istringstream smaps("00400000-00500000 r-xp 00000000 00:00 0 \n"
                             "AnonHugePages:      2048 kB\n"
                             "7f0000000000-7f0001000000 rw-p 00000000 00:00 0 \n"
                             "Size:              16384 kB\n"
                             "AnonHugePages:     14336 kB\n");
    CHECK(huge_bytes_of(smaps, 0x7f0000200000) == 14336 << 10);
    std::istringstream damaged("zz-7f0001000000 rw-p\nAnonHugePages: 1 kB\n\n:\n");
    CHECK(huge_bytes_of(damaged, 0x7f0000200000) == 0);
    CHECK(huge_page_setting("always [madvise] never") == "madvise");
    CHECK(huge_page_setting("]x[") == "unavailable");
    CHECK(huge_page_setting("") == "unavailable");
}
